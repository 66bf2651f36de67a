#include "programs/doctor/examine.hpp"

#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "detail/threads.hpp"
#include "programs/doctor/code.hpp"
#include "programs/doctor/measure.hpp"
#include "programs/doctor/storage.hpp"
#include "programs/doctor/words.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

namespace doctor {
namespace {

/// How the time is shared out.
constexpr double storage_share = 0.15;
constexpr double reading_share = 0.12;
constexpr double readers_share = 0.28;
constexpr double decoder_share = 0.1;
constexpr double copies_share = 0.03;
constexpr double loops_share = 0.32;
/// Activities of each thread that a picture shows.
constexpr std::size_t trace_events = 20'000;
/// Where samples lie in chunks, readers are measured in a shuffle of so many.
constexpr std::uint64_t mixed_chunks = 16;
/// A dataset that opens faster than this is opened anew for each measurement, with nothing kept.
constexpr seconds quick_opening{0.3};

/// What the system says can be had without swapping.
std::uint64_t free_memory() {
  std::ifstream file{"/proc/meminfo"};
  std::string name;
  std::uint64_t kibibytes = 0;
  for (std::string rest; file >> name >> kibibytes; std::getline(file, rest))
    if (name == "MemAvailable:") return kibibytes << 10;
  return 0;
}

feedline::sampler sampler_of(loop_order order) {
  if (order == loop_order::sequential) return feedline::sequential{};
  feedline::shuffle shuffle{.seed = 42};
  if (order == loop_order::windows) shuffle.within = feedline::chunks();
  return shuffle;
}

std::string words_of(loop_order order) {
  if (order == loop_order::sequential) return "in order";
  return order == loop_order::windows ? "shuffled within chunks" : "shuffled";
}

/// More readers than these bring blocks to a GPU no faster.
constexpr int max_decoder_readers = 8;

/// 1, 2, 4, … and as many as there may be.
std::vector<int> readers_to_try(const request& asked, const findings& measured) {
  if (measured.layout.serialized) return {1};
  const int most = asked.max_readers != 0 ? asked.max_readers : static_cast<int>(measured.cores);
  std::vector<int> tried;
  for (int readers = 1; readers < most; readers *= 2) tried.push_back(readers);
  tried.push_back(most);
  return tried;
}

class examiner {
 public:
  examiner(const request& asked, examination& made, const progress& tell)
      : asked_{asked}, made_{made}, all_{made.measured}, tell_{tell} {}

  void run(const gpu_finder& find) {
    find_device(find);
    tell_("storage");
    std::vector<std::string> files;
    for (const content& each : made_.found)
      files.insert(files.end(), each.files.begin(), each.files.end());
    all_.storage = examine_storage(
        files, {.time = storage_share * asked_.seconds, .keep_cache = asked_.keep_cache});
    tell_("opening");
    opened_ = open_subject(asked_, made_.found);
    made_.notes = opened_.notes;
    all_.layout = layout_of(opened_, made_.found, all_.storage.local, all_.storage.cached);
    choose_batch();
    all_.step = asked_.step;
    all_.cores = feedline::detail::usable_cores();
    all_.host_free_bytes = free_memory();
    all_.device_budget = asked_.device_bytes;
    measure_device();
    measure_alone();
    measure_all_readers();
    measure_decoder();
    made_.recommended = advise(all_);
    measure_loops();
    // Damage that shows as late as that changes the advice, too.
    const advice measured = std::exchange(made_.recommended, advise(all_));
    if (made_.recommended.decode_on != measured.decode_on && all_.loops.size() > 1) {
      all_.loops.pop_back();
      all_.not_run = "samples that cannot be read were found as it ran";
    }
    made_.program = program_of(opened_.code, all_, made_.recommended);
    if (const std::string doubt = doubt_of(all_); !doubt.empty()) made_.notes.push_back(doubt);
  }

 private:
  void choose_batch() {
    const std::uint64_t samples = all_.layout.samples;
    if (asked_.batch_size > samples)
      throw feedline::usage_error{asked_.path + ": holds " + std::to_string(samples) +
                                  " samples, fewer than a batch of " +
                                  std::to_string(asked_.batch_size) + ": give --batch-size " +
                                  std::to_string(samples) + " or less"};
    all_.batch_size =
        asked_.batch_size != 0 ? asked_.batch_size : std::min<std::uint64_t>(samples, 256);
  }

  /// With nothing kept from what was read before, where it is chunks that are kept.
  feedline::dataset_ptr fresh() const {
    if (!all_.layout.in_chunks() || opened_.opening > quick_opening) return opened_.samples;
    return opened_.open();
  }

  [[nodiscard]] limits until(double share) const {
    return {
        .time = share * asked_.seconds, .samples = asked_.max_samples, .one_epoch = keeps_chunks()};
  }

  /// Later epochs find in memory what the first one has decoded.
  [[nodiscard]] bool keeps_chunks() const {
    return all_.layout.in_chunks() && !all_.layout.forgets_chunks();
  }

  void find_device(const gpu_finder& find) {
    if (!asked_.gpu) return do_without_gpu("no GPU was to be used (--no-gpu)");
    tell_("GPU");
    gpu_search search = find(*asked_.gpu);
    if (!search.found) return do_without_gpu(search.refusal);
    gpu_ = std::move(search.found);
  }

  void do_without_gpu(const std::string& why) {
    if (asked_.needs_gpu)
      throw feedline::usage_error{"--gpu " + std::to_string(*asked_.gpu) + ": " + why +
                                  "; without --gpu, or with --no-gpu, no GPU is needed"};
    gpu_.reset();
    all_.no_device = why;
  }

  void measure_device() {
    if (!gpu_) return;
    tell_("copies to the GPU");
    try {
      all_.device = measure_copies(*gpu_, copies_share * asked_.seconds);
    } catch (const feedline::device_error& refusal) {
      do_without_gpu(std::string{"the GPU cannot be used: "} + refusal.what());
    }
  }

  void measure_alone() {
    tell_("one thread, in order");
    const bool twice = all_.layout.forgets_chunks();
    const double share = twice ? reading_share / 2 : reading_share;
    all_.reading.push_back(
        measure_reading(*fresh(), feedline::sequential{}, "in order", until(share), all_.damages));
    if (!twice) return;
    tell_("one thread, shuffled");
    all_.reading.push_back(measure_reading(*fresh(), feedline::shuffle{.seed = 42}, "shuffled",
                                           until(share), all_.damages));
  }

  void measure_all_readers() {
    // So that each part of an epoch costs the same: the first batches of a full shuffle read nearly
    // all chunks.
    feedline::shuffle order{.seed = 42};
    if (all_.layout.in_chunks()) order.within = feedline::chunks(mixed_chunks);
    all_.readers_order =
        order.within ? "shuffled within " + std::to_string(mixed_chunks) + " chunks" : "shuffled";
    const std::vector<int> tried = readers_to_try(asked_, all_);
    for (const int readers : tried) {
      const auto loop =
          loop_of("", fresh(), order, {.batch_size = all_.batch_size, .readers = readers}, nullptr,
                  until(readers_share / static_cast<double>(tried.size())));
      all_.readers.push_back({readers, loop.samples, loop.took});
    }
  }

  /// What more and more readers bring where the GPU decodes.
  void measure_decoder() {
    if (!gpu_) return;
    decoder_facts& decoder = all_.decoder;
    decoder.window = decoder_window(all_);
    feedline::shuffle order{.seed = 42};
    if (decoder.window) order.within = feedline::chunks(*decoder.window);
    feedline::loader_options options{.batch_size = all_.batch_size,
                                     .placement = feedline::placement::stream,
                                     .decode_on = feedline::decode_on::device,
                                     .memory = {.cache = asked_.device_bytes.value_or(0)}};
    try {
      if (opened_.samples->encoded() == nullptr)
        decoder.not_measured = all_.layout.in_memory
                                   ? "samples lie in memory, decoded as they were opened"
                                   : "samples are not stored in blocks that a GPU decodes";
      for (const int readers : readers_to_try(asked_, all_)) {
        if (!all_.damages.empty())
          decoder.not_measured = "samples that cannot be read end an epoch that the GPU decodes";
        if (!decoder.not_measured.empty() || readers > max_decoder_readers) return;
        options.readers = readers;
        const auto loop =
            loop_of("the GPU's decoder, ", fresh(), order, options, gpu_.get(),
                    {.time = decoder_share / 4 * asked_.seconds, .samples = asked_.max_samples});
        decoder.not_measured = loop.plan.decode_note;
        if (loop.batches != 0) decoder.readers.push_back({readers, loop.samples, loop.took});
      }
    } catch (const feedline::error& refusal) {  // as of memory that is not there
      decoder.not_measured = refusal.what();
    }
  }

  loop_facts loop_of(const std::string& what, const feedline::dataset_ptr& samples,
                     const feedline::sampler& order, const feedline::loader_options& options,
                     gpu* on, const limits& within) {
    tell_(what + std::to_string(options.readers) + (options.readers == 1 ? " reader" : " readers"));
    return measure_loop(samples, order, options, on, {}, within, all_.damages);
  }

  void measure_loops() {
    const auto step = asked_.step.value_or(std::chrono::nanoseconds{0});
    const std::size_t events = asked_.picture.empty() ? 0 : trace_events;
    tell_("the loop as it is");
    measure_one("as it is", words_of(asked_.order), fresh(), sampler_of(asked_.order),
                {.batch_size = all_.batch_size,
                 .readers = asked_.readers,
                 .expert = {.trace_events = events}},
                step);
    const advice& given = made_.recommended;
    if (!can_run(given)) return;
    tell_("the loop as recommended");
    try {
      run_recommended(given, step);
    } catch (const feedline::error& refusal) {  // as of memory that is not there
      all_.not_run = refusal.what();
    }
  }

  void run_recommended(const advice& given, std::chrono::nanoseconds step) {
    feedline::dataset_ptr samples = fresh();
    if (given.load_into_memory)
      samples = feedline::load_into_memory(
          std::move(samples),
          {.errors = skipping(), .failures = [this](const feedline::failure_report& seen) {
             for (const feedline::sample_failure& each : seen.first)
               note_damage(all_.damages, each.sample.value, each.message);
           }});
    feedline::loader_options options{.batch_size = all_.batch_size,
                                     .readers = given.readers,
                                     .placement = given.placement,
                                     .decode_on = given.decode_on,
                                     .memory = {.cache = given.device_cache_bytes}};
    feedline::shuffle order{.seed = 42};
    if (given.window) order.within = feedline::chunks(*given.window);
    measure_one("as recommended", given.window ? "shuffled within chunks" : "shuffled", samples,
                order, options, step);
  }

  /// Whether what comes before the loop, loading or pinning all samples, takes no longer than it.
  bool can_run(const advice& given) {
    double rate = 0;
    for (const reader_rate& each : all_.readers) rate = std::max(rate, each.rate());
    const auto samples = static_cast<double>(all_.layout.samples);
    constexpr double pinned_bytes_per_second = 2e9;
    seconds before{};
    if (given.load_into_memory) before += seconds{rate > 0 ? samples / rate : 1e9};
    if (given.placement == feedline::placement::gather)
      before += seconds{samples * static_cast<double>(all_.layout.sample_bytes) /
                        pinned_bytes_per_second};
    if (before > loops_share / 2 * asked_.seconds)
      all_.not_run = "loading or pinning all samples before it takes about " + time_text(before);
    return all_.not_run.empty();
  }

  void measure_one(const char* name, std::string order_words, const feedline::dataset_ptr& samples,
                   const feedline::sampler& order, const feedline::loader_options& options,
                   std::chrono::nanoseconds step) {
    limits within = until(loops_share / 2);
    within.one_epoch = false;
    within.first_apart = keeps_chunks() || options.placement == feedline::placement::resident ||
                         options.placement == feedline::placement::cached;
    all_.loops.push_back(
        measure_loop(samples, order, options, gpu_.get(), step, within, all_.damages));
    all_.loops.back().name = name;
    all_.loops.back().order = std::move(order_words);
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
