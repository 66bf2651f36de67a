#include "programs/doctor/examine.hpp"

#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "detail/threads.hpp"
#include "programs/doctor/code.hpp"
#include "programs/doctor/decoding/images.hpp"
#include "programs/doctor/measure.hpp"
#include "programs/words/units.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

namespace doctor {
namespace {

using programs::counted;
using programs::time_text;

using feedline::loader_options;

/// How the time is shared out.
constexpr double in_order_share = 0.12;
constexpr double readers_share = 0.38;
constexpr double copies_share = 0.03;
constexpr double loops_share = 0.4;
/// Activities of each thread that a picture shows.
constexpr std::size_t trace_events = 20'000;
/// Where samples lie in chunks, readers are measured in a shuffle of this many.
constexpr std::uint64_t mixed_chunks = 16;
/// A dataset that opens faster than this is opened again for each measurement, with nothing kept.
constexpr seconds quick_opening{0.3};
constexpr double pinned_bytes_per_second = 2e9;

/// Memory that is available without swapping, according to the system.
std::uint64_t free_memory() {
  std::ifstream file{"/proc/meminfo"};
  std::string name;
  std::uint64_t kibibytes = 0;
  for (std::string rest; file >> name >> kibibytes; std::getline(file, rest))
    if (name == "MemAvailable:") return kibibytes << 10;
  return 0;
}

struct named_order {
  feedline::sampler sampler;
  std::string name;
};

/// @param window In chunks; empty: all samples are mixed.
named_order shuffled(std::optional<std::uint64_t> window) {
  if (!window) return {feedline::shuffle{.seed = 42}, "shuffled"};
  return {feedline::shuffle{.seed = 42, .within = feedline::chunks(*window)},
          fmt::format("shuffled within {} chunks", *window)};
}

named_order order_of(loop_order order) {
  if (order == loop_order::sequential) return {feedline::sequential{}, "in order"};
  if (order == loop_order::shuffle) return shuffled({});
  return {feedline::shuffle{.seed = 42, .within = feedline::chunks()}, "shuffled within chunks"};
}

class examiner {
 public:
  examiner(const request& asked, examination& made, const progress& tell)
      : asked_{asked}, made_{made}, all_{made.measured}, tell_{tell} {}

  void run(const gpu_finder& find) {
    find_device(find);
    std::vector<std::string> files;
    for (const content& each : made_.found)
      files.insert(files.end(), each.files.begin(), each.files.end());
    all_.storage = examine_storage(files);
    tell_("opening");
    opened_ = open_subject(asked_, made_.found);
    made_.notes = opened_.notes;
    all_.layout = layout_of(opened_, made_.found, all_.storage.local, all_.storage.cached);
    all_.layout.images = look_at_images(*opened_.samples);
    choose_batch();
    all_.step = asked_.step;
    all_.cores = feedline::detail::usable_cores();
    all_.host_free_bytes = free_memory();
    all_.device_budget = asked_.device_bytes;
    tell_("one thread, in order");
    all_.in_order = rate_of(feedline::sequential{}, feedline::no_readers, in_order_share);
    measure_readers();
    made_.recommended = advise(all_);
    const auto step = asked_.step.value_or(std::chrono::nanoseconds{0});
    tell_("the loop as it is");
    measure_one("as it is", order_of(asked_.order), fresh(),
                {.batch_size = all_.batch_size,
                 .readers = asked_.readers,
                 .expert = {.trace_events = asked_.picture.empty() ? 0 : trace_events}},
                step);
    measure_recommended(step);
    made_.recommended = advise(all_);  // the loops may have met damage
    made_.program = program_of(opened_.code, all_, made_.recommended);
  }

 private:
  void choose_batch() {
    const std::uint64_t samples = all_.layout.samples;
    if (asked_.batch_size > samples)
      throw feedline::usage_error{fmt::format(
          "{}: holds {} samples, fewer than a batch of {}: give --batch-size {} or less",
          asked_.path, samples, asked_.batch_size, samples)};
    all_.batch_size =
        asked_.batch_size != 0 ? asked_.batch_size : std::min<std::uint64_t>(samples, 256);
  }

  /// With nothing kept from what was read before, where chunks are kept.
  feedline::dataset_ptr fresh() const {
    const bool is_quick = all_.layout.in_chunks() && opened_.opening <= quick_opening;
    return is_quick ? opened_.open() : opened_.samples;
  }

  /// Later epochs find in memory what the first one has decoded.
  [[nodiscard]] bool keeps_chunks() const {
    return all_.layout.in_chunks() && !all_.layout.forgets_chunks();
  }

  [[nodiscard]] limits until(double share) const {
    return {.time = share * asked_.seconds, .one_epoch = keeps_chunks()};
  }

  void find_device(const gpu_finder& find) {
    if (!asked_.gpu) return do_without_gpu("--no-gpu is set");
    tell_("copies to the GPU");
    gpu_search search = find(*asked_.gpu);
    if (!search.found) return do_without_gpu(search.refusal);
    gpu_ = std::move(search.found);
    try {
      all_.device = measure_copies(*gpu_, copies_share * asked_.seconds);
    } catch (const feedline::device_error& refusal) {
      do_without_gpu(std::string{"the GPU cannot be used: "} + refusal.what());
    }
  }

  void do_without_gpu(const std::string& why) {
    if (asked_.needs_gpu)
      throw feedline::usage_error{"--gpu " + std::to_string(*asked_.gpu) + ": " + why +
                                  "; without --gpu, or with --no-gpu, no GPU is needed"};
    gpu_.reset();
    all_.no_device = why;
  }

  /// 1, 2, 4, … and as many as there may be.
  std::vector<int> readers_to_try() const {
    if (all_.layout.serialized) return {1};
    const int most = asked_.max_readers != 0 ? asked_.max_readers : static_cast<int>(all_.cores);
    std::vector<int> tried;
    for (int readers = 1; readers < most; readers *= 2) tried.push_back(readers);
    tried.push_back(most);
    return tried;
  }

  work_rate rate_of(const feedline::sampler& order, int readers, double share) {
    const loop_facts loop =
        measure_loop(fresh(), order, {.batch_size = all_.batch_size, .readers = readers}, nullptr,
                     {}, until(share), all_.damages);
    return {readers, loop.samples, loop.took};
  }

  void measure_readers() {
    // Each part of an epoch must cost the same: the first batches of a full shuffle read nearly all
    // chunks.
    const named_order order =
        shuffled(all_.layout.in_chunks() ? std::optional{mixed_chunks} : std::nullopt);
    all_.readers_order = order.name;
    const std::vector<int> tried = readers_to_try();
    for (const int readers : tried) {
      tell_(counted(readers, "reader"));
      all_.readers.push_back(
          rate_of(order.sampler, readers, readers_share / static_cast<double>(tried.size())));
    }
  }

  /// Unless what comes before the loop, loading or pinning all samples, takes longer than it.
  void measure_recommended(std::chrono::nanoseconds step) {
    const advice& given = made_.recommended;
    double rate = 1e-9;
    for (const work_rate& each : all_.readers) rate = std::max(rate, each.rate());
    const auto samples = static_cast<double>(all_.layout.samples);
    seconds before{};
    if (given.load_into_memory) before += seconds{samples / rate};
    if (given.placement == feedline::placement::gather)
      before += seconds{samples * static_cast<double>(all_.layout.sample_bytes) /
                        pinned_bytes_per_second};
    if (before > loops_share / 2 * asked_.seconds) {
      all_.not_run = "loading or pinning all samples before it takes about " + time_text(before);
      return;
    }
    tell_("the loop as recommended");
    try {
      measure_one("as recommended", shuffled(given.window),
                  given.load_into_memory ? loaded() : fresh(),
                  {.batch_size = all_.batch_size,
                   .readers = given.readers,
                   .placement = given.placement,
                   .memory = {.cache = given.device_cache_bytes}},
                  step);
    } catch (const feedline::error& refusal) {  // such as out of memory
      all_.not_run = refusal.what();
    }
  }

  feedline::dataset_ptr loaded() {
    return feedline::load_into_memory(
        fresh(), {.errors = skipping(), .failures = [this](const feedline::failure_report& seen) {
                    for (const feedline::sample_failure& each : seen.first)
                      note_damage(all_.damages, each.sample.value, each.message);
                  }});
  }

  void measure_one(const char* name, const named_order& order, const feedline::dataset_ptr& samples,
                   const loader_options& options, std::chrono::nanoseconds step) {
    limits within = until(loops_share / 2);
    within.one_epoch = false;
    within.later = keeps_chunks() || options.placement == feedline::placement::resident ||
                   options.placement == feedline::placement::cached;
    loop_facts loop =
        measure_loop(samples, order.sampler, options, gpu_.get(), step, within, all_.damages);
    loop.name = name;
    loop.order = order.name;
    all_.loops.push_back(std::move(loop));
  }

  const request& asked_;
  examination& made_;
  findings& all_;
  const progress& tell_;
  subject opened_;
  std::unique_ptr<gpu> gpu_;
};

}  // namespace

examination examine(const request& asked, std::vector<content> found, const progress& tell,
                    const gpu_finder& find) {
  examination made;
  made.found = std::move(found);
  examiner{asked, made, tell}.run(find);
  return made;
}

}  // namespace doctor
