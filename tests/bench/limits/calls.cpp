#include <feedline/cuda/device.hpp>

#include "bench/limits/limits.hpp"
#include "bench/support/busy_kernel.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/measure.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <functional>
#include <string>

namespace feedline::bench {
namespace {

/// So few that none waits for room in the stream's queue.
constexpr int calls_a_round = 256;

}  // namespace

/// The host's clock around calls that only issue; the stream is drained outside the clock. The last
/// lines wait for the kernels too: what launching costs where nothing else does, and beside copies
/// on another stream, which a loop with a loader always has.
void measure_calls(const common_options& options, results& found) {
  constexpr std::size_t slot_bytes = std::size_t{8} << 20;
  constexpr std::size_t copy_bytes = std::size_t{64} << 20;
  const auto device = make_cuda_device(0);
  const detail::device_memory on_host{device, memory_kind::staging, slot_bytes};
  const detail::device_memory on_gpu{device, memory_kind::device, slot_bytes};
  const detail::event event{device};
  const gpu_stream stream;
  const auto native = reinterpret_cast<cudaEvent_t>(event.get());
  const auto copy = [&](std::size_t bytes) {
    FEEDLINE_CUDA_CHECK(
        cudaMemcpyAsync(on_gpu.data(), on_host.data(), bytes, cudaMemcpyDefault, stream.get()));
  };
  const auto measure = [&](const std::string& call, bool drained,
                           const std::function<void()>& issue) {
    const double seconds = median_of(4 * options.runs + 1, [&] {
      const auto start = clock_type::now();
      for (int i = 0; i < calls_a_round; ++i) issue();
      if (drained) stream.sync();
      const double each = seconds_since(start) / calls_a_round;
      stream.sync();
      return each;
    });
    std::printf("%-44s %8.3f\n", call.c_str(), 1e6 * seconds);
    found.add({{"limit", "call"}, {"call", call}, {"seconds", seconds}});
  };
  std::printf("\ncalls: host time each, µs\n");
  measure("cudaMemcpyAsync of 4 KiB to the GPU", false, [&] { copy(4096); });
  measure("cudaMemcpyAsync of 8 MiB to the GPU", false, [&] { copy(slot_bytes); });
  measure("cudaEventRecord", false,
          [&] { FEEDLINE_CUDA_CHECK(cudaEventRecord(native, stream.get())); });
  measure("cudaStreamWaitEvent", false,
          [&] { FEEDLINE_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), native, 0)); });
  measure("cudaEventQuery", false, [&] { FEEDLINE_CUDA_CHECK(cudaEventQuery(native)); });
  measure("launch of an empty kernel", false, [&] { launch_busy(stream.get(), 0); });
  measure("launch of an empty kernel, and its run", true, [&] { launch_busy(stream.get(), 0); });
  const gpu_stream other;
  const detail::device_memory large_on_host{device, memory_kind::staging, copy_bytes};
  const detail::device_memory large_on_gpu{device, memory_kind::device, copy_bytes};
  // A copy takes about twice as long as a round of launches: the bus is busy all the time.
  int issued = 0;
  measure("... beside copies that fill the bus", true, [&] {
    if (issued++ % calls_a_round == 0)
      FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(large_on_gpu.data(), large_on_host.data(), copy_bytes,
                                          cudaMemcpyDefault, other.get()));
    launch_busy(stream.get(), 0);
  });
  other.sync();
}

}  // namespace feedline::bench
