#include "programs/doctor/measure.hpp"

#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>

#include "device/owned.hpp"
#include "programs/words/library_words.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace doctor {
namespace {

using steady = std::chrono::steady_clock;

/// A loop waits for a batch at least so long, however short it is to be.
constexpr seconds least_wait{1};
/// Fewer batches say nothing of an epoch.
constexpr std::uint64_t min_batches = 4;

/// Samples that cannot be read are left out, however many, and told.
feedline::loader_options completed(feedline::loader_options options, const limits& until) {
  options.errors = skipping();
  options.epochs = until.one_epoch ? 1 : std::uint64_t{1} << 40;
  return options;
}

/// @throws the cause, if it is not that a sample cannot be read.
void note_cause(std::vector<damage>& damages, const feedline::stage_error& failure) {
  try {
    std::rethrow_exception(failure.cause());
  } catch (const feedline::dataset_error& error) {
    note_damage(damages, failure.where().sample, error.what());
  }
}

class loop {
 public:
  loop(const feedline::dataset_ptr& samples, const feedline::sampler& order,
       const feedline::loader_options& options, gpu* on, const limits& until)
      : until_{until},
        on_{on},
        options_{completed(options, until)},
        loader_{samples, order, on == nullptr ? feedline::make_host_device() : on->device,
                options_} {
    facts_.plan = loader_.plan();
  }

  loop_facts run(std::chrono::nanoseconds step, std::vector<damage>& damages) {
    try {
      bool is_going_on = true;
      for (std::uint64_t epoch = 0; epoch < options_.epochs && is_going_on; ++epoch) {
        is_going_on = take_epoch(epoch, step);
        if (epoch == 0 && is_going_on && until_.later) begin_again();
      }
    } catch (const feedline::deadline_error&) {
      // However slow a batch is, the loop ends: what readers have read by then is measured.
    } catch (const feedline::stage_error& failure) {
      note_cause(damages, failure);
    }
    for (const feedline::sample_failure& each : loader_.failures().first)
      note_damage(damages, each.sample.value, each.message);
    finish();
    if (options_.expert.trace_events != 0) facts_.trace = loader_.trace();
    return std::move(facts_);
  }

 private:
  [[nodiscard]] bool is_over() const {
    if (batches_ < 2) return false;
    // The first epoch gets more time, since its first batches may be the slowest by far.
    const int share = until_.later && !facts_.later ? 3 : 1;
    return samples_ >= until_.samples || steady::now() - begin_ >= share * until_.time;
  }

  /// @return Whether the loop continues after it. It ends if no sample of an epoch can be read.
  bool take_epoch(std::uint64_t epoch, std::chrono::nanoseconds step) {
    if (is_over()) return false;
    const std::uint64_t before = batches_;
    feedline::epoch_range batches =
        loader_.epoch(epoch, on_ == nullptr ? feedline::stream_ref{} : on_->stream);
    while (const auto batch = batches.next(deadline_)) {
      // Without a GPU the thread pauses, and leaves its core to the readers, as one that waits for
      // a GPU does.
      if (step.count() != 0 && on_ != nullptr) on_->compute(step);
      if (step.count() != 0 && on_ == nullptr) std::this_thread::sleep_for(step);
      samples_ += batch->size();
      if (++batches_ == 1 && !facts_.later) before_ = loader_.statistics();
      if (is_over()) return false;
    }
    return batches_ != before;
  }

  void begin_again() {
    if (on_ != nullptr) on_->sync();
    facts_.later = true;
    before_ = loader_.statistics();
    begin_ = steady::now();
    batches_ = samples_ = 0;
  }

  /// Statistics begin after the first batch, for which every loop waits.
  void finish() {
    if (on_ != nullptr) on_->sync();
    const feedline::loader_statistics all = loader_.statistics();
    facts_.took = steady::now() - begin_;
    facts_.batches = batches_;
    facts_.samples = all.reader.samples;
    facts_.seen = batches_ >= min_batches || facts_.later ? all.since(before_) : all;
    facts_.verdict = judge(facts_.seen);
  }

  const limits& until_;
  gpu* on_;
  feedline::loader_options options_;
  feedline::loader loader_;
  steady::time_point begin_ = steady::now();
  steady::time_point deadline_ =
      begin_ + std::chrono::duration_cast<steady::duration>(std::max(5 * until_.time, least_wait));
  std::uint64_t batches_ = 0;
  std::uint64_t samples_ = 0;
  feedline::loader_statistics before_;
  loop_facts facts_;
};

}  // namespace

void note_damage(std::vector<damage>& damages, std::optional<std::uint64_t> sample,
                 const std::string& what) {
  const std::string message = programs::in_words_of(programs::program::doctor, what);
  const bool known = std::ranges::any_of(damages, [&](const damage& each) {
    return each.message == message || (sample && each.sample == sample);
  });
  if (!known && damages.size() < max_damages) damages.push_back({sample, message});
}

device_facts measure_copies(gpu& on, seconds time) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  constexpr int copies_at_once = 8;
  feedline::device& device = *on.device;
  const feedline::detail::device_memory from{on.device, feedline::memory_kind::staging, bytes};
  const feedline::detail::device_memory to{on.device, feedline::memory_kind::device, bytes};
  device_facts facts = static_cast<const device_facts&>(on);
  facts.copied_bytes = bytes;
  device.copy(to.data(), from.data(), bytes, on.stream);
  on.sync();  // the first copy is slower
  const steady::time_point begin = steady::now();
  do {
    const steady::time_point first = steady::now();
    for (int i = 0; i < copies_at_once; ++i) device.copy(to.data(), from.data(), bytes, on.stream);
    on.sync();
    const seconds took = steady::now() - first;
    facts.copy_rate = std::max(facts.copy_rate, copies_at_once * bytes / took.count());
  } while (steady::now() - begin < time);
  return facts;
}

loop_facts measure_loop(const feedline::dataset_ptr& samples, const feedline::sampler& order,
                        const feedline::loader_options& options, gpu* on,
                        std::chrono::nanoseconds step, const limits& until,
                        std::vector<damage>& damages) {
  return loop{samples, order, options, on, until}.run(step, damages);
}

}  // namespace doctor
