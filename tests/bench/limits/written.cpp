#include <feedline/cuda/device.hpp>

#include "bench/limits/limits.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/measure.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::bench {
namespace {

struct rates {
  std::vector<double> written;  ///< bytes a second of all threads together, one a round
  std::vector<double> copied;
};

/// Round after round, all threads write a share of the memory each, out of their nearest cache;
/// then the GPU copies it.
/// @param in_turn A thread writes another share in each round: what another has written.
rates write_and_copy(std::byte* memory, std::byte* on_gpu, std::size_t bytes, std::size_t threads,
                     bool in_turn, int rounds) {
  constexpr std::size_t source_bytes = std::size_t{16} << 10;
  const gpu_stream stream;
  const std::size_t share = bytes / threads;
  rates found;
  clock_type::time_point began;
  std::barrier step{static_cast<std::ptrdiff_t>(threads)};
  const auto work = [&](std::size_t thread) {
    const std::vector<std::byte> source(source_bytes);
    for (int round = 0; round < rounds; ++round) {
      if (thread == 0) began = clock_type::now();
      step.arrive_and_wait();
      const auto place = (thread + (in_turn ? static_cast<std::size_t>(round) : 0)) % threads;
      for (std::size_t at = 0; at < share; at += source_bytes)
        std::memcpy(memory + place * share + at, source.data(), std::min(source_bytes, share - at));
      step.arrive_and_wait();
      if (thread == 0) {
        found.written.push_back(static_cast<double>(bytes) / seconds_since(began));
        began = clock_type::now();
        FEEDLINE_CUDA_CHECK(
            cudaMemcpyAsync(on_gpu, memory, bytes, cudaMemcpyHostToDevice, stream.get()));
        stream.sync();
        found.copied.push_back(static_cast<double>(bytes) / seconds_since(began));
      }
      step.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
  return found;
}

}  // namespace

void measure_written(const common_options& options, results& found) {
  constexpr std::size_t most = std::size_t{64} << 20;
  constexpr std::array<std::size_t, 2> threads{4, 8};
  const auto device = make_cuda_device(0);
  const detail::device_memory memory{device, memory_kind::staging, most};
  const detail::device_memory on_gpu{device, memory_kind::device, most};
  std::printf(
      "\npinned memory that threads write and the GPU copies then, again and again, GB/s; own: a "
      "thread writes the same part each time, others': what another wrote before\n%8s %8s %12s "
      "%14s %12s %14s\n",
      "MiB", "threads", "writing own", "writing others'", "copying own", "copying others'");
  for (const std::size_t count : threads) {
    for (std::size_t bytes = std::size_t{1} << 20; bytes <= most; bytes *= 2) {
      const int rounds = 10 * options.runs;
      const rates own = write_and_copy(memory.data(), on_gpu.data(), bytes, count, false, rounds);
      const rates others = write_and_copy(memory.data(), on_gpu.data(), bytes, count, true, rounds);
      std::printf("%8zu %8zu %12.1f %14.1f %12.1f %14.1f\n", bytes >> 20, count,
                  median(own.written) / 1e9, median(others.written) / 1e9, median(own.copied) / 1e9,
                  median(others.copied) / 1e9);
      std::fflush(stdout);
      for (const auto& [name, part] : {std::pair{"own", &own}, std::pair{"others'", &others}}) {
        found.add({{"limit", "written"},
                   {"share", name},
                   {"bytes", bytes},
                   {"threads", count},
                   {"written_per_second", median(part->written)},
                   {"bytes_per_second", median(part->copied)}});
      }
    }
  }
}

}  // namespace feedline::bench
