#pragma once

#include <feedline/cuda/device.hpp>

#include "bench/support/busy_kernel.hpp"
#include "bench/support/gpu_stream.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::bench {

/// Exact enough to set the length of steps, because the real length is measured.
inline double cycles_per_microsecond() {
  int kilohertz = 0;
  FEEDLINE_CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  return 1e-3 * kilohertz;
}

inline constexpr std::uint64_t max_steps = 1'000'000;  ///< limit of a run

/// Steps on a stream, and what the GPU's clock tells of them.
class stamped_steps {
 public:
  struct times {
    std::vector<double> gaps;  ///< µs, from each step's end to the next one's begin
    double mean_step = 0;      ///< µs
  };

  explicit stamped_steps(const gpu_stream& stream)
      : stream_{stream},
        memory_{make_cuda_device(0), memory_kind::device, (max_steps + 1) * sizeof(kernel_stamps)} {
  }

  /// An empty step, from whose end the first gap counts.
  void begin() {
    issued_ = 0;
    issue(0);
  }
  void issue(std::uint64_t cycles) {
    auto* const all = reinterpret_cast<kernel_stamps*>(memory_.data());
    launch_stamped(stream_.get(), cycles, all + issued_++);
  }
  /// Waits for the stream.
  [[nodiscard]] times end() const {
    std::vector<kernel_stamps> stamps(issued_);
    stream_.sync();
    FEEDLINE_CUDA_CHECK(cudaMemcpy(stamps.data(), memory_.data(), issued_ * sizeof(kernel_stamps),
                                   cudaMemcpyDeviceToHost));
    times seen;
    for (std::size_t i = 1; i < stamps.size(); ++i) {
      seen.gaps.push_back(
          1e-3 * (static_cast<double>(stamps[i].begin) - static_cast<double>(stamps[i - 1].end)));
      seen.mean_step += 1e-3 * static_cast<double>(stamps[i].end - stamps[i].begin);
    }
    seen.mean_step /= static_cast<double>(seen.gaps.size());
    return seen;
  }

 private:
  const gpu_stream& stream_;
  detail::device_memory memory_;
  std::size_t issued_ = 0;
};

}  // namespace feedline::bench
