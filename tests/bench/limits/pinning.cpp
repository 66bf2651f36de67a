#include "bench/limits/limits.hpp"
#include "bench/support/measure.hpp"
#include "cuda/check.hpp"
#include "cuda/pinned_memory.hpp"

#include <cuda_runtime_api.h>

#include <array>
#include <cstdio>

namespace feedline::bench {

/// Measures pinning by the runtime's functions, and by feedline's: allocation alone, each time of
/// memory not touched before.
void measure_pinning(const common_options& options, results& found) {
  std::printf("\npinning: time to allocate, ms\n%12s %14s %16s\n", "MiB", "cudaHostAlloc",
              "allocate_pinned");
  for (const std::size_t mib : std::array<std::size_t, 6>{1, 8, 32, 128, 512, 1024}) {
    const std::size_t bytes = mib << 20;
    const double by_cuda = median_of(options.runs, [&] {
      void* memory = nullptr;
      const auto start = clock_type::now();
      FEEDLINE_CUDA_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
      const double seconds = seconds_since(start);
      FEEDLINE_CUDA_CHECK(cudaFreeHost(memory));
      return seconds;
    });
    const double by_feedline = median_of(options.runs, [&] {
      const auto start = clock_type::now();
      void* const memory = detail::allocate_pinned(bytes);
      const double seconds = seconds_since(start);
      detail::free_pinned(memory, bytes);
      return seconds;
    });
    std::printf("%12zu %14.2f %16.2f\n", mib, 1e3 * by_cuda, 1e3 * by_feedline);
    std::fflush(stdout);
    found.add({{"limit", "pinning"},
               {"bytes", bytes},
               {"cuda_host_alloc_seconds", by_cuda},
               {"allocate_pinned_seconds", by_feedline}});
  }
}

}  // namespace feedline::bench
