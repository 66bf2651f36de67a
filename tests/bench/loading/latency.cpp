/// Cost of a loader that throughput does not show: from construction to the first batch, at an
/// epoch's edge, and on the consumer's thread for each batch.
///
///     feedline_bench_latency
///
/// Method: host clock, CUDA context up before. First batch: a loader is made, and the clock stops
/// when the stream has passed the first batch's copy. Steps: an empty consumer, each step timed,
/// sorted into those within a slot, those that take a new slot, and those that take an epoch's
/// first batch. The bus sets their mean, and readers that share a machine their spread. Slow reads:
/// 256-byte rows of which each takes a millisecond, in batches of 32, beside the time that a
/// batch's own samples took all readers, by the clock in the dataset's reads; a break after ten
/// batches, and the next epoch's first, ten times.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/gpu_stream.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options {
  std::string shape;
  std::string json;
  int readers = automatic_readers;
  int constructions = 15;
  std::uint64_t epochs = 100;
};

loader_options loading(const shape& shape, const options& options) {
  return {.batch_size = shape.batch_size, .epochs = options.epochs, .readers = options.readers};
}

/// Milliseconds from the call of the constructor to the first batch on the GPU, and of the
/// constructor alone.
struct start_up {
  double construction;
  double first_batch;
};

start_up measure_start(const shape& shape, const dataset_ptr& data, const device_ptr& device,
                       const options& options, const gpu_stream& stream) {
  const auto start = clock_type::now();
  loader loader{data, shuffle{.seed = 1}, device, loading(shape, options)};
  const double construction = seconds_since(start);
  auto range = loader.epoch(0, stream_ref{stream.get()});
  const std::optional<batch> first = range.next();
  stream.sync();
  return {1e3 * construction, 1e3 * seconds_since(start)};
}

/// Microseconds of each step, by kind.
struct steps {
  std::vector<double> within_slot;
  std::vector<double> new_slot;
  std::vector<double> new_epoch;
};

steps measure_steps(const shape& shape, const dataset_ptr& data, const device_ptr& device,
                    const options& options, const gpu_stream& stream) {
  loader_options slots = loading(shape, options);
  {  // full ones, so that a batch's number tells which slot it is in
    const feedline::loader sizes{data, shuffle{.seed = 1}, device, slots};
    slots.expert.batches_per_slot = sizes.plan().batches_per_slot;
  }
  loader loader{data, shuffle{.seed = 1}, device, slots};
  const std::uint64_t per_slot = slots.expert.batches_per_slot;
  steps taken;
  auto before = clock_type::now();
  for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch) {
    for (batch& batch : loader.epoch(epoch, stream_ref{stream.get()})) {
      const double step = 1e6 * seconds_since(before);
      if (epoch != 0) {  // the first is the start-up's
        auto& kind = batch.index() == 0              ? taken.new_epoch
                     : batch.index() % per_slot == 0 ? taken.new_slot
                                                     : taken.within_slot;
        kind.push_back(step);
      }
      before = clock_type::now();
    }
  }
  return taken;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void print(const std::vector<double>& values) {
  if (values.empty()) {
    std::printf(" %26s", "-");
  } else {
    std::printf(" %8.2f %8.2f %8.2f", median(values), mean(values), quantile(values, 0.99));
  }
}

void add(facts& row, const std::string& name, const std::vector<double>& values) {
  if (values.empty()) return;
  row[name] = median(values);
  row[name + "_mean"] = mean(values);
  row[name + "_p99"] = quantile(values, 0.99);
}

/// Rows of which each takes a millisecond, as from a slow disk, and what they really took.
class slow_rows final : public dataset {
 public:
  double seconds_a_sample() const {
    return 1e-9 * static_cast<double>(nanoseconds_.load()) / static_cast<double>(samples_.load());
  }
  std::uint64_t size() const override { return 6'400; }
  std::vector<field> fields() const override { return {{"row", element_type::u8, {256}}}; }
  void do_read(const read_request& request) const override {
    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(request.samples.size() * std::chrono::milliseconds{1});
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begun;
    nanoseconds_ += static_cast<std::uint64_t>(taken.count());
    samples_ += request.samples.size();
  }

 private:
  mutable std::atomic<std::uint64_t> nanoseconds_{0};
  mutable std::atomic<std::uint64_t> samples_{0};
};

void measure_slow_reads(const gpu_stream& stream, results& found) {
  constexpr std::uint64_t batch_size = 32;
  constexpr int breaks = 10;
  std::printf("\nslow reads, ms: 1 ms a sample, batches of %d\n", static_cast<int>(batch_size));
  std::printf("%8s %10s %10s %10s %10s %12s %12s %12s\n", "readers", "own time", "first", "gap",
              "most", "after break", "most", "ms a batch");
  for (const int readers : {1, 4, 8}) {
    const auto data = std::make_shared<const slow_rows>();
    const auto start = clock_type::now();
    loader loader{data,
                  shuffle{.seed = 1},
                  make_cuda_device(0),
                  {.batch_size = batch_size, .readers = readers}};
    const auto take = [&](std::uint64_t epoch, std::uint64_t count) {
      std::vector<double> times;
      const auto begun = clock_type::now();
      auto range = loader.epoch(epoch, stream_ref{stream.get()});
      for (std::uint64_t i = 0; i < count && range.next(); ++i) {
        stream.sync();
        times.push_back(seconds_since(begun));
      }
      return times;
    };
    const double made = seconds_since(start);
    const std::vector<double> times = take(0, 10);
    std::vector<double> after_break;
    std::uint64_t epoch = 0;
    while (++epoch < breaks) after_break.push_back(take(epoch, 10).front());
    const std::vector<double> again = take(epoch, 60);
    after_break.push_back(again.front());
    std::vector<double> gaps;
    for (std::size_t i = 1; i < again.size(); ++i) gaps.push_back(again[i] - again[i - 1]);
    const double each = (again.back() - again.front()) / static_cast<double>(gaps.size());
    const double own = static_cast<double>(batch_size) * data->seconds_a_sample() / readers;
    std::printf("%8d %10.2f %10.2f %10.2f %10.2f %12.2f %12.2f %12.2f\n", readers, 1e3 * own,
                1e3 * times.front(), 1e3 * quantile(gaps, 0.5), 1e3 * quantile(gaps, 1),
                1e3 * median(after_break), 1e3 * quantile(after_break, 1), 1e3 * each);
    found.add({{"slow_readers", readers},
               {"construction_ms", 1e3 * made},
               {"own_ms", 1e3 * own},
               {"first_ms", 1e3 * times.front()},
               {"gap_ms", 1e3 * quantile(gaps, 0.5)},
               {"most_gap_ms", 1e3 * quantile(gaps, 1)},
               {"after_break_ms", 1e3 * median(after_break)},
               {"most_after_break_ms", 1e3 * quantile(after_break, 1)},
               {"batch_ms", 1e3 * each}});
  }
}

void run(const options& options) {
  results found{"latency", machine_facts()};
  std::printf("%s\n", describe_machine().c_str());
  std::printf("%-12s %26s %26s %26s %26s %26s\n", "shape", "constructor, ms", "first batch, ms",
              "within a slot, us", "a new slot, us", "a new epoch, us");
  std::printf("%-12s", "");
  for (int i = 0; i < 5; ++i) std::printf(" %8s %8s %8s", "median", "mean", "p99");
  std::printf("\n");
  const gpu_stream stream;
  const auto device = make_cuda_device(0);
  for (const shape& shape : main_shapes(options.shape)) {
    const auto data = make_data(shape);
    std::vector<double> constructions;
    std::vector<double> first_batches;
    for (int i = 0; i < options.constructions; ++i) {
      const auto each = measure_start(shape, data, device, options, stream);
      constructions.push_back(each.construction);
      first_batches.push_back(each.first_batch);
    }
    const steps taken = measure_steps(shape, data, device, options, stream);
    std::printf("%-12s", shape.name.c_str());
    print(constructions);
    print(first_batches);
    print(taken.within_slot);
    print(taken.new_slot);
    print(taken.new_epoch);
    std::printf("\n");
    std::fflush(stdout);
    facts row;
    row["shape"] = shape.name;
    add(row, "constructor_ms", constructions);
    add(row, "first_batch_ms", first_batches);
    add(row, "step_within_slot_us", taken.within_slot);
    add(row, "step_new_slot_us", taken.new_slot);
    add(row, "step_new_epoch_us", taken.new_epoch);
    found.add(std::move(row));
  }
  measure_slow_reads(stream, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Start-up, epoch edges, and the consumer's time a batch"};
  options options;
  line.add_option("--shape", options.shape, "default: all but small-dram");
  line.add_option("--json", options.json, "file that the results go to, for report.py");
  line.add_option("--readers", options.readers, "reader threads; -1: automatic");
  line.add_option("--constructions", options.constructions, "loaders to make");
  line.add_option("--epochs", options.epochs, "epochs to step through");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
