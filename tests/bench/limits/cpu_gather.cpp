#include "bench/support/bare/cpu_gather.hpp"

#include <feedline/cuda/device.hpp>

#include "bench/limits/limits.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/shapes.hpp"
#include "device/owned.hpp"

#include <array>
#include <cstdio>

namespace feedline::bench {

void measure_cpu_gather(const common_options& options, results& found) {
  constexpr std::array<std::size_t, 5> threads{1, 2, 4, 8, 16};
  std::printf("\nrandom rows gathered by CPU threads into a pinned ring of 32 MiB, GB/s\n");
  std::printf("%-12s %9s %9s", "rows of", "row bytes", "MB");
  for (const std::size_t each : threads) std::printf(" %7zu t", each);
  std::printf("\n");
  const detail::device_memory ring{make_cuda_device(0), memory_kind::staging, ring_bytes};
  for (const shape& shape : row_shapes(options.shape)) {
    const cpu_gather gather{shape, make_data(shape)};
    std::printf("%-12s %9zu %9.0f", shape.name.c_str(), gather.row_bytes(),
                static_cast<double>(gather.bytes()) / 1e6);
    for (const std::size_t each : threads) {
      const double rate =
          median_of(options.runs, [&] { return gather.rate(ring.data(), each, options.seconds); });
      std::printf(" %9.2f", rate / 1e9);
      std::fflush(stdout);
      found.add({{"limit", "cpu gather"},
                 {"shape", shape.name},
                 {"row_bytes", gather.row_bytes()},
                 {"threads", each},
                 {"bytes_per_second", rate}});
    }
    std::printf("\n");
  }
}

}  // namespace feedline::bench
