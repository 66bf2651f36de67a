#pragma once

#include "cuda/cuda_check.hpp"

#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Makes a GPU the calling thread's current one for a scope, and puts back the one before.
class cuda_current_device {
 public:
  explicit cuda_current_device(int ordinal) {
    FEEDLINE_CUDA_CHECK(cudaGetDevice(&before_));
    changed_ = before_ != ordinal;
    if (changed_) FEEDLINE_CUDA_CHECK(cudaSetDevice(ordinal));
  }
  cuda_current_device(const cuda_current_device&) = delete;
  cuda_current_device& operator=(const cuda_current_device&) = delete;
  ~cuda_current_device() {
    if (changed_) FEEDLINE_CUDA_LOG(cudaSetDevice(before_));
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace feedline::detail
