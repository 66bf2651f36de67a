#pragma once

#include <feedline/backend/device.hpp>

#include "bench/support/gpu_stream.hpp"
#include "device/owned.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>

namespace feedline::bench {

/// Bytes a second of copies of one size from `from` to `to`, back to back on a stream for about so
/// many seconds.
[[nodiscard]] double copy_rate(void* to, const void* from, std::size_t bytes, cudaStream_t stream,
                               double seconds);

/// Copies of one size from pinned memory to a GPU, with memory of their own: the limit of every
/// loader that streams.
class pinned_copies {
 public:
  /// @param gpu The current one. @throws device_error
  pinned_copies(int gpu, std::size_t bytes);
  /// Same as `copy_rate`.
  [[nodiscard]] double rate(double seconds) const;

 private:
  device_ptr device_;
  detail::device_memory from_;
  detail::device_memory to_;
  gpu_stream stream_;
};

}  // namespace feedline::bench
