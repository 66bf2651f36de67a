#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/device/stream_ref.hpp>

#include "programs/doctor/findings.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace doctor {

/// A GPU as far as it is needed here, so that nothing else sees CUDA.
struct gpu : device_facts {
  feedline::device_ptr device;
  feedline::stream_ref stream;  ///< the consumer's; ends with this
  /// Issues work on `stream` that lasts so long, and returns.
  std::function<void(std::chrono::nanoseconds)> compute;
  /// Blocks until all work on `stream` is done.
  std::function<void()> sync;

  gpu() = default;
  gpu(const gpu&) = delete;
  gpu& operator=(const gpu&) = delete;
  ~gpu() {
    if (device && stream) device->destroy_stream(stream);
  }
};

/// A GPU, or why there is none.
struct gpu_search {
  std::unique_ptr<gpu> found;
  std::string refusal;
};

/// @param ordinal CUDA's ordinal of the GPU.
[[nodiscard]] gpu_search find_gpu(int ordinal);

/// `find_gpu`, or what stands in for it.
using gpu_finder = std::function<gpu_search(int ordinal)>;

}  // namespace doctor
