#pragma once

#include <feedline/device/device.hpp>
#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {

/// A CUDA GPU: staging memory is pinned, copies run on a non-blocking stream of the pipeline's own,
/// consumers name theirs.
///
/// Any stream of the same GPU serves, `cudaStreamPerThread` and `cudaStreamLegacy` included; a
/// batch taken on `cudaStreamPerThread` must be destroyed by the thread that took it, since the
/// name means another stream elsewhere. The calling thread's current device is left as it was.
///
/// @param ordinal As CUDA counts: 0 to `cuda_device_count() - 1`.
/// @throws usage_error if there is no such GPU, saying how many there are; cuda_error if it does
/// not answer.
[[nodiscard]] device_ptr make_cuda_device(int ordinal);

/// GPUs this process can use; 0 when there is no GPU or no driver. Never throws.
[[nodiscard]] int cuda_device_count() noexcept;

}  // namespace feedline
