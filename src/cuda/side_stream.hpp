#pragma once

#include "cuda/context.hpp"

#include <cuda_runtime_api.h>

#include <memory>

namespace feedline::detail {

/// A stream for work that goes on beside that of another one, until the other waits for it. Made
/// and used while its GPU is current. One thread's at a time.
class side_stream {
 public:
  /// @throws cuda_error.
  explicit side_stream(std::shared_ptr<cuda_context> context);
  side_stream(const side_stream&) = delete;
  side_stream& operator=(const side_stream&) = delete;
  /// Blocks until its work is done. On any thread.
  ~side_stream();

  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  /// What is issued on `other` from now on runs behind what was issued here. @throws cuda_error.
  void join(cudaStream_t other);

 private:
  std::shared_ptr<cuda_context> context_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t done_ = nullptr;
};

}  // namespace feedline::detail
