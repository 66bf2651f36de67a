#include "bench/support/bare/copies.hpp"

#include <feedline/cuda/device.hpp>

#include "bench/support/measure.hpp"
#include "cuda/check.hpp"

#include <algorithm>
#include <cstdint>

namespace feedline::bench {

double copy_rate(void* to, const void* from, std::size_t bytes, cudaStream_t stream,
                 double seconds) {
  // Enough at once to hide the wait after them; 8 for 8 MiB and more.
  const std::uint64_t at_once = std::clamp<std::uint64_t>((std::size_t{64} << 20) / bytes, 8, 256);
  const auto issue = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream));
  };
  issue(2);
  std::uint64_t copies = 0;
  const auto start = clock_type::now();
  do {
    issue(at_once);
    copies += at_once;
  } while (seconds_since(start) < seconds);
  return static_cast<double>(copies * bytes) / seconds_since(start);
}

pinned_copies::pinned_copies(int gpu, std::size_t bytes)
    : device_{make_cuda_device(gpu)},
      from_{device_, memory_kind::staging, bytes},
      to_{device_, memory_kind::device, bytes} {}

double pinned_copies::rate(double seconds) const {
  return copy_rate(to_.data(), from_.data(), to_.bytes(), stream_.get(), seconds);
}

}  // namespace feedline::bench
