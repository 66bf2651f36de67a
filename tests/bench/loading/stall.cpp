/// How well compute hides transfer: a loop that takes a batch and issues one kernel of a given
/// length on it, for steps of 0.25 to 4 times the transfer time of a batch.
///
///     feedline_bench_stall
///     feedline_bench_stall --shape imagenet256 --readers 8
///
/// Method: three loops over the same number of batches, by the clock of the host, each until the
/// stream is done: the kernels alone (compute), the loader with an empty consumer (feeding: the
/// longer of gather and transfer), and both together. Nothing can be faster than the longer of the
/// first two: the ratio is the loop's time over that. Medians of the runs, each a round of all
/// three, one right after the other. "to limit" is stricter: over the longer of compute and plain
/// pinned copies of the slot's size, so that a slow gather shows. "by hand" is what the machine
/// gives a program that needs no loader: the same kernels, and a copy of a slot that is full
/// already on a stream of its own for as many batches as a slot has; launches take longer while the
/// bus is busy.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/bare/copies.hpp"
#include "bench/support/busy_kernel.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"
#include "support/command_line.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  int readers = 8;
};

/// Highest clock rate of the GPU's multiprocessors. It is exact enough to set kernel lengths,
/// because the real lengths are measured.
double cycles_per_second() {
  int kilohertz = 0;
  FEEDLINE_CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  return 1e3 * kilohertz;
}

double compute_alone(std::uint64_t batches, std::uint64_t cycles, const gpu_stream& stream) {
  const auto start = clock_type::now();
  for (std::uint64_t i = 0; i < batches; ++i) launch_busy(stream.get(), cycles);
  stream.sync();
  return seconds_since(start);
}

/// Buffers of a loop by hand: a slot that is always full, and its destination.
class copies_by_hand {
 public:
  copies_by_hand(const device_ptr& device, std::size_t bytes)
      : bytes_{bytes},
        on_host_{device, memory_kind::staging, bytes},
        on_gpu_{device, memory_kind::device, bytes} {}

  void issue() {
    FEEDLINE_CUDA_CHECK(
        cudaMemcpyAsync(on_gpu_.data(), on_host_.data(), bytes_, cudaMemcpyDefault, stream_.get()));
  }
  void sync() const { stream_.sync(); }

 private:
  std::size_t bytes_;
  detail::device_memory on_host_;
  detail::device_memory on_gpu_;
  gpu_stream stream_;
};

/// The same kernels beside copies of whole slots, each of this many batches.
double compute_beside(copies_by_hand& copies, std::uint64_t slot_batches, std::uint64_t batches,
                      std::uint64_t cycles, const gpu_stream& stream) {
  const auto start = clock_type::now();
  for (std::uint64_t i = 0; i < batches; ++i) {
    if (i % slot_batches == 0) copies.issue();
    launch_busy(stream.get(), cycles);
  }
  stream.sync();
  copies.sync();
  return seconds_since(start);
}

/// Consumes this many batches, across epochs, with a kernel on each, or none if `cycles` is 0.
double consume(loader& loader, std::uint64_t& epoch, std::uint64_t batches, std::uint64_t cycles,
               const gpu_stream& stream) {
  const auto start = clock_type::now();
  for (std::uint64_t taken = 0; taken < batches;) {
    for (batch& batch : loader.epoch(epoch++, stream_ref{stream.get()})) {
      (void)batch;
      if (cycles != 0) launch_busy(stream.get(), cycles);
      ++taken;
    }
  }
  stream.sync();
  return seconds_since(start);
}

/// @param transfer Seconds that the bus needs for a batch.
void run_cell(const shape& shape, loader& loader, copies_by_hand& copies, std::uint64_t& epoch,
              double ratio, double transfer, const options& options, const gpu_stream& stream,
              results& found) {
  const auto cycles = static_cast<std::uint64_t>(ratio * transfer * cycles_per_second());
  const std::uint64_t an_epoch = loader.plan().batches_per_epoch;
  const auto wanted =
      static_cast<std::uint64_t>(options.seconds / (transfer * std::max(ratio, 1.0)));
  const std::uint64_t batches = (wanted / an_epoch + 1) * an_epoch;
  std::vector<double> compute;
  std::vector<double> by_hand;
  std::vector<double> feeding;
  std::vector<double> both;
  std::vector<double> ratios;
  std::vector<double> to_limit;
  for (int i = 0; i < options.runs; ++i) {
    compute.push_back(compute_alone(batches, cycles, stream));
    by_hand.push_back(
        compute_beside(copies, loader.plan().batches_per_slot, batches, cycles, stream));
    feeding.push_back(consume(loader, epoch, batches, 0, stream));
    both.push_back(consume(loader, epoch, batches, cycles, stream));
    ratios.push_back(both.back() / std::max(compute.back(), feeding.back()));
    to_limit.push_back(both.back() /
                       std::max(compute.back(), transfer * static_cast<double>(batches)));
  }
  const double each = 1e6 / static_cast<double>(batches);
  std::printf("%-12s %9.2f %9.2f %9.2f %9.2f %9.2f %8.3f [%5.3f, %5.3f] %9.3f\n",
              shape.name.c_str(), ratio, median(compute) * each, median(by_hand) * each,
              median(feeding) * each, median(both) * each, median(ratios), quantile(ratios, 0),
              quantile(ratios, 1), median(to_limit));
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"asked", ratio},
             {"transfer_us", 1e6 * transfer},
             {"compute_us", median(compute) * each},
             {"by_hand_us", median(by_hand) * each},
             {"feeding_us", median(feeding) * each},
             {"both_us", median(both) * each},
             {"stall_ratio", median(ratios)},
             {"least_stall_ratio", quantile(ratios, 0)},
             {"most_stall_ratio", quantile(ratios, 1)},
             {"stall_ratio_to_limit", median(to_limit)}});
}

void run(const options& options) {
  results found{"stall", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    %d readers; kernels alone, beside copies by hand, loader alone, both; medians of "
      "%d rounds; times in µs "
      "a batch\n\n",
      options.readers, options.runs);
  std::printf("%-12s %9s %9s %9s %9s %9s %8s %15s %9s\n", "shape", "asked", "compute", "by hand",
              "feeding", "both", "ratio", "", "to limit");
  const gpu_stream stream;
  for (const shape& shape : main_shapes(options.shape)) {
    loader loader{
        make_data(shape),
        shuffle{.seed = 1},
        make_cuda_device(0),
        {.batch_size = shape.batch_size, .epochs = UINT64_MAX, .readers = options.readers}};
    const double rate = pinned_copies{0, loader.plan().device_slot_bytes}.rate(options.seconds);
    const double transfer = static_cast<double>(sample_bytes(shape) * shape.batch_size) / rate;
    copies_by_hand copies{make_cuda_device(0), loader.plan().device_slot_bytes};
    std::uint64_t epoch = 0;
    (void)consume(loader, epoch, loader.plan().batches_per_epoch, 1, stream);  // warm up
    for (const double ratio : {0.25, 0.5, 1.0, 2.0, 4.0})
      run_cell(shape, loader, copies, epoch, ratio, transfer, options, stream, found);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"How well transfer hides behind compute"};
  options options;
  options.seconds = 0.2;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "reader threads");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
