#include <feedline/cuda/device.hpp>

#include "bench/limits/limits.hpp"
#include "bench/support/bare/copies.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/measure.hpp"
#include "device/owned.hpp"

#include <array>
#include <cstdio>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace feedline::bench {
namespace {

constexpr std::array<std::size_t, 8> sizes{50'000,
                                           200'000,
                                           std::size_t{1} << 20,
                                           std::size_t{4} << 20,
                                           std::size_t{8} << 20,
                                           std::size_t{16} << 20,
                                           std::size_t{64} << 20,
                                           std::size_t{256} << 20};

/// Memory for one direction: the host's end, the GPU's end, and the stream between them.
struct lane {
  lane(const device_ptr& device, bool pinned, std::size_t bytes)
      : pinned_memory{pinned ? detail::device_memory{device, memory_kind::staging, bytes}
                             : detail::device_memory{}},
        pageable(pinned ? 0 : bytes, std::byte{1}),
        on_gpu{device, memory_kind::device, bytes} {}

  [[nodiscard]] std::byte* on_host() {
    return pageable.empty() ? pinned_memory.data() : pageable.data();
  }
  double to_gpu(std::size_t bytes, double seconds) {
    return copy_rate(on_gpu.data(), on_host(), bytes, stream.get(), seconds);
  }
  double from_gpu(std::size_t bytes, double seconds) {
    return copy_rate(on_host(), on_gpu.data(), bytes, stream.get(), seconds);
  }

  detail::device_memory pinned_memory;
  std::vector<std::byte> pageable;
  detail::device_memory on_gpu;
  gpu_stream stream;
};

/// Both directions at once, a thread each: a copy of pageable memory holds up its thread. The
/// sum of their rates.
double both(lane& there, lane& back, std::size_t bytes, double seconds) {
  auto other = std::async(std::launch::async, [&] { return back.from_gpu(bytes, seconds); });
  const double rate = there.to_gpu(bytes, seconds);
  return rate + other.get();
}

}  // namespace

void measure_bus(const common_options& options, results& found) {
  std::printf("\nthe bus: copies of one size back to back, GB/s\n");
  std::printf("%-10s %12s %10s %10s %10s\n", "memory", "bytes", "to GPU", "from GPU", "both");
  const auto device = make_cuda_device(0);
  for (const bool pinned : {true, false}) {
    const std::string memory = pinned ? "pinned" : "pageable";
    lane there{device, pinned, sizes.back()};
    lane back{device, pinned, sizes.back()};
    for (const std::size_t bytes : sizes) {
      const double to_gpu =
          median_of(options.runs, [&] { return there.to_gpu(bytes, options.seconds); });
      const double from_gpu =
          median_of(options.runs, [&] { return back.from_gpu(bytes, options.seconds); });
      const double at_once =
          median_of(options.runs, [&] { return both(there, back, bytes, options.seconds); });
      std::printf("%-10s %12zu %10.2f %10.2f %10.2f\n", memory.c_str(), bytes, to_gpu / 1e9,
                  from_gpu / 1e9, at_once / 1e9);
      std::fflush(stdout);
      for (const auto& [direction, rate] :
           {std::pair{"to GPU", to_gpu}, {"from GPU", from_gpu}, {"both", at_once}}) {
        found.add({{"limit", "bus"},
                   {"memory", memory},
                   {"direction", direction},
                   {"bytes", bytes},
                   {"bytes_per_second", rate}});
      }
    }
  }
}

}  // namespace feedline::bench
