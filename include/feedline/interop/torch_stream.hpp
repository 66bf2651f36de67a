#pragma once

#include <feedline/device/device_id.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>

#include <cstdint>
#include <string>

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/cuda.h>

namespace FEEDLINE_EXPORT feedline::libtorch {

/// Converts a libtorch stream for a loader. libtorch's default stream is null, which means CUDA's
/// legacy stream. On the host: no stream. @throws usage_error if it is cudaStreamPerThread, which
/// would mean a different stream on the thread where a tensor ends.
[[nodiscard]] inline stream_ref stream_of(c10::Stream stream) {
  if (stream.device_type() == c10::DeviceType::CPU) return {};
  constexpr std::uintptr_t legacy = 1;  // value of cudaStreamLegacy in CUDA's headers
  constexpr std::uintptr_t per_thread = 2;
  void* const handle = stream.native_handle();
  if (reinterpret_cast<std::uintptr_t>(handle) == per_thread) {
    throw usage_error{
        "libtorch was given cudaStreamPerThread, which means another stream on each thread: let it "
        "use a stream of its own, or of yours"};
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return stream_ref::from_raw(handle != nullptr ? handle : reinterpret_cast<void*>(legacy));
}

/// The calling thread's current stream on a device, for a loader whose batches libtorch consumes:
///
///     for (feedline::batch& batch : loader.epoch(0, feedline::libtorch::current_stream(device)))
///
/// @param device Without an index: the current device of its kind. The host has no stream.
[[nodiscard]] inline stream_ref current_stream(c10::Device device) {
  if (device.is_cpu()) return {};
  return stream_of(c10::impl::VirtualGuardImpl{device.type()}.getStream(device));
}

/// libtorch's name of a batch's device.
/// @throws usage_error if this libtorch cannot use it: it has no name for the device, was built
/// without CUDA, or does not see the GPU.
[[nodiscard]] inline c10::Device torch_device(device_id of) {
  if (of.kind == device_kind::host) return c10::Device{c10::kCPU};
  if (of.kind != device_kind::cuda)
    throw usage_error{"a batch is on a device for which libtorch has no device type"};
  const auto count = torch::cuda::is_available() ? torch::cuda::device_count() : 0;
  if (of.ordinal < static_cast<int>(count))
    return c10::Device{c10::kCUDA, static_cast<c10::DeviceIndex>(of.ordinal)};
  throw usage_error{"a batch lies on cuda:" + std::to_string(of.ordinal) + ", and libtorch sees " +
                    std::to_string(count) +
                    " GPUs: use a libtorch with CUDA, or take batches on the host device"};
}

}  // namespace feedline::libtorch
