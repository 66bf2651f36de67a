/// feedline_bench_tuning: tuning's result, beside the best of a grid search; with --gpu on a GPU.
///
///     feedline_bench_tuning [--readers 32] [--seconds 0.5] [--runs 5] [--case storage] [--gpu]
///
/// Method: for each constructed dataset a loader is made for every number of readers (1, 2, 4 … to
/// the budget) and every number of staging slots (4, 8, 16), and its batch rate is measured; the
/// fastest is the best of the grid. A tuned loader with the same budget runs until it has settled.
/// Then both are measured again, in turn, so that a change of the machine's speed meets both, and
/// neither has the luck of being the best of many measurements. Printed are the settings, the
/// medians of the rates, and the ratio as the median of the runs' ratios [least, most]; and how
/// many batches the search took, of how many in an epoch.
///
/// A second table compares the default, an automatic number of readers, with a loader that keeps
/// the default's first number. Both run in turn from their creation for 20 times `--seconds`,
/// so that the search is included; then, once the default has settled, for `--seconds`.
///
/// A dataset's samples wait (a sleep: storage that serves any number of reads at a time), compute
/// (a loop: decoding), or are copied only. The consumer sleeps for its step, or does nothing.

#include <feedline/backend/device.hpp>
#include <feedline/feedline.hpp>

#include "bench/processor.hpp"
#include "bench/support/measure.hpp"

#ifdef FEEDLINE_BENCH_CUDA
#include <feedline/cuda/device.hpp>

#include <cuda_runtime_api.h>
#endif

#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <time.h>

using namespace feedline;
using namespace feedline::bench;
using namespace std::chrono_literals;

namespace {

struct options {
  int readers = 32;
  double seconds = 0.5;
  int runs = 5;
  std::string name;
  bool gpu = false;
};

/// The limit of a loop.
struct example {
  std::string name;
  std::size_t sample_bytes;
  std::uint64_t batch_size;
  std::uint64_t batches;             ///< batches of an epoch
  std::chrono::microseconds wait{};  ///< for each sample
  std::chrono::microseconds compute{};
  std::chrono::microseconds rare_wait{};  ///< for one sample of 64, instead of `wait`
  std::chrono::microseconds step{};       ///< time of the consumer for each batch
};

const std::vector<example>& examples() {
  static const std::vector<example> all{
      {.name = "storage, small",
       .sample_bytes = 784,
       .batch_size = 64,
       .batches = 2000,
       .wait = 200us},
      {.name = "storage, large",
       .sample_bytes = 600'000,
       .batch_size = 16,
       .batches = 1000,
       .wait = 2ms},
      {.name = "storage, uneven",
       .sample_bytes = 3072,
       .batch_size = 32,
       .batches = 1000,
       .wait = 100us,
       .rare_wait = 20ms,
       .step = 1ms},
      {.name = "storage, busy loop",
       .sample_bytes = 3072,
       .batch_size = 32,
       .batches = 1000,
       .wait = 200us,
       .step = 4ms},
      {.name = "decode, small",
       .sample_bytes = 784,
       .batch_size = 64,
       .batches = 2000,
       .compute = 50us},
      {.name = "decode, large",
       .sample_bytes = 600'000,
       .batch_size = 16,
       .batches = 1000,
       .compute = 1ms},
      {.name = "gather, small", .sample_bytes = 784, .batch_size = 256, .batches = 4000},
      {.name = "gather, large", .sample_bytes = 150'528, .batch_size = 64, .batches = 1000}};
  return all;
}

/// Rows that are all alike, and cost what the example says.
class example_dataset final : public dataset {
 public:
  explicit example_dataset(example what) : what_{std::move(what)}, row_(what_.sample_bytes) {}

  [[nodiscard]] std::uint64_t size() const override { return what_.batches * what_.batch_size; }
  [[nodiscard]] std::vector<field> fields() const override {
    return {{"row", element_type::u8, {what_.sample_bytes}}};
  }
  void do_read(const read_request& request) const override {
    std::chrono::microseconds wait{};
    for (const sample_index each : request.samples)
      wait += what_.rare_wait.count() != 0 && each.value % 64 == 0 ? what_.rare_wait : what_.wait;
    if (wait.count() != 0) std::this_thread::sleep_for(wait);
    for (std::size_t i = 0; i < request.samples.size(); ++i) {
      compute();
      std::memcpy(request.out[0].data() + i * row_.size(), row_.data(), row_.size());
    }
  }

 private:
  /// Computes for a given CPU time of its core.
  void compute() const {
    if (what_.compute.count() == 0) return;
    timespec begin{};
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1'000'000 + (now.tv_nsec - begin.tv_nsec) / 1'000 <
             what_.compute.count());
  }

  example what_;
  std::vector<std::byte> row_;
};

/// A device, and the stream of a consumer on it.
struct place {
  device_ptr device = make_host_device();
  stream_ref stream = {};
};

place make_place(bool gpu) {
#ifdef FEEDLINE_BENCH_CUDA
  if (gpu) {
    static cudaStream_t stream = nullptr;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
      throw usage_error{"no stream on GPU 0"};
    return {make_cuda_device(0), stream_ref{stream}};
  }
#endif
  if (gpu) throw usage_error{"built without CUDA"};
  return {};
}

/// A loader, and a consumer that takes epoch after epoch.
class feed {
 public:
  feed(const place& where, const example& of, loader_options with)
      : from_{std::make_shared<const example_dataset>(of), shuffle{.seed = 1}, where.device,
              std::move(with)},
        stream_{where.stream},
        step_{of.step} {}

  [[nodiscard]] const loader& source() const { return from_; }
  void take_one() {
    for (;;) {
      if (!range_) range_.emplace(from_.epoch(epoch_, stream_));
      if (const auto taken = range_->next()) break;
      range_.reset();
      ++epoch_;
    }
    if (step_.count() != 0) std::this_thread::sleep_for(step_);
  }
  /// Batches a second, measured after a fifth of the time.
  double rate(double seconds) {
    for (const auto warm = clock_type::now(); seconds_since(warm) < seconds / 5;) take_one();
    std::uint64_t batches = 0;
    const auto start = clock_type::now();
    for (; seconds_since(start) < seconds; ++batches) take_one();
    return static_cast<double>(batches) / seconds_since(start);
  }

 private:
  loader from_;
  stream_ref stream_;
  std::chrono::microseconds step_;
  std::uint64_t epoch_ = 0;
  std::optional<epoch_range> range_;
};

loader_options options_of(const example& of) {
  loader_options with{.batch_size = of.batch_size};
  with.epochs = UINT64_MAX;
  return with;
}

struct cell {
  int readers;
  std::size_t slots;
  double rate;
};

cell best_of_grid(const place& where, const example& of, const options& options) {
  cell best{};
  for (int readers = 1; readers <= options.readers; readers *= 2) {
    for (const std::size_t slots : {4U, 8U, 16U}) {
      loader_options with = options_of(of);
      with.readers = readers;
      with.expert.staging_slots = slots;
      const double rate = feed{where, of, with}.rate(options.seconds);
      if (rate > best.rate) best = {readers, slots, rate};
    }
  }
  return best;
}

void compare(const place& where, const example& of, const options& options) {
  const cell best = best_of_grid(where, of, options);
  loader_options with = options_of(of);
  with.readers = best.readers;
  with.expert.staging_slots = best.slots;
  feed fixed{where, of, with};

  loader_options tuned_options = options_of(of);
  tuned_options.expert.tuning = {.max_readers = options.readers,
                                 .max_pinned_bytes = 16 * fixed.source().plan().slot_bytes};
  feed tuned{where, of, tuned_options};
  std::uint64_t batches = 0;
  while (!tuned.source().statistics().tuning.settled && ++batches < 100 * of.batches)
    tuned.take_one();

  std::vector<double> of_fixed;
  std::vector<double> of_tuned;
  std::vector<double> ratios;
  for (int run = 0; run < options.runs; ++run) {
    of_fixed.push_back(fixed.rate(options.seconds));
    of_tuned.push_back(tuned.rate(options.seconds));
    ratios.push_back(of_tuned.back() / of_fixed.back());
  }
  const tuning_statistics found = tuned.source().statistics().tuning;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  std::printf("%-19s %7d %5zu %10.1f %7u %5llu %10.1f %7.3f [%.3f, %.3f] %7llu of %llu\n",
              of.name.c_str(), best.readers, best.slots, median(of_fixed), found.readers,
              static_cast<unsigned long long>(found.staging_slots), median(of_tuned),
              median(ratios), *least, *most,
              static_cast<unsigned long long>(found.searched_batches),
              static_cast<unsigned long long>(of.batches));
  std::printf("    %s\n", found.why.c_str());
  std::fflush(stdout);
}

/// Batches that a loader delivers in its first seconds.
double batches_from_start(feed& of, double seconds) {
  std::uint64_t batches = 0;
  for (const auto start = clock_type::now(); seconds_since(start) < seconds; ++batches)
    of.take_one();
  return static_cast<double>(batches);
}

void compare_default(const place& where, const example& of, const options& options) {
  std::vector<double> at_first;
  std::vector<double> later;
  tuning_statistics found;
  int first = 0;
  for (int run = 0; run < options.runs; ++run) {
    feed automatic{where, of, options_of(of)};
    loader_options with = options_of(of);
    with.readers = first = automatic.source().plan().first_readers;
    feed fixed{where, of, with};
    const double of_fixed = batches_from_start(fixed, 20 * options.seconds);
    at_first.push_back(batches_from_start(automatic, 20 * options.seconds) / of_fixed);
    for (std::uint64_t batches = 0; batches < 100 * of.batches; ++batches) {
      found = automatic.source().statistics().tuning;
      if (!found.on || found.settled) break;
      automatic.take_one();
    }
    const double rate = fixed.rate(options.seconds);
    later.push_back(automatic.rate(options.seconds) / rate);
  }
  const auto [least, most] = std::minmax_element(at_first.begin(), at_first.end());
  const auto [least_later, most_later] = std::minmax_element(later.begin(), later.end());
  std::printf("%-19s %7d %7u %7.3f [%.3f, %.3f] %7.3f [%.3f, %.3f]\n", of.name.c_str(), first,
              found.readers, median(at_first), *least, *most, median(later), *least_later,
              *most_later);
  std::fflush(stdout);
}

void run(const options& options) {
  const place where = make_place(options.gpu);
  std::printf("%s, %u hardware threads; %s; budget of %d readers and 16 slots; %d runs of %.1f s\n",
              processor().c_str(), std::thread::hardware_concurrency(),
              where.device->capabilities().name.c_str(), options.readers, options.runs,
              options.seconds);
  std::printf("\n%-19s %24s %24s %24s\n", "", "best of the grid", "tuned", "");
  std::printf("%-19s %7s %5s %10s %7s %5s %10s %7s %14s %s\n", "", "readers", "slots", "batches/s",
              "readers", "slots", "batches/s", "ratio", "[least, most]", "searched batches");
  for (const example& each : examples())
    if (each.name.find(options.name) != std::string::npos) compare(where, each, options);
  std::printf(
      "\nthe default relative to its first number of readers, kept: the first %.0f s, and "
      "once it has settled\n%-19s %7s %7s %7s %14s %7s %14s\n",
      20 * options.seconds, "", "first", "found", "ratio", "[least, most]", "later",
      "[least, most]");
  for (const example& each : examples())
    if (each.name.find(options.name) != std::string::npos) compare_default(where, each, options);
}

}  // namespace

int main(int argc, char** argv) {
  test::command_line line{"What tuning finds, beside the best of a grid search."};
  options options;
  line.add_option("--readers", options.readers, "most reader threads");
  line.add_option("--seconds", options.seconds, "of one measurement");
  line.add_option("--runs", options.runs, "of which the median counts");
  line.add_option("--case", options.name, "a part of the names of those to run");
  line.add_flag("--gpu", options.gpu, "GPU 0 instead of the host device");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    run(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "feedline_bench_tuning: %s\n", problem.what());
    return 1;
  }
}
