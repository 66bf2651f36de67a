#pragma once

#include <feedline/device/device.hpp>
#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A CUDA GPU: staging memory is pinned, copies run on a non-blocking stream of the pipeline's own,
/// consumers name theirs.
///
/// Any stream of the same GPU serves, `cudaStreamPerThread` and `cudaStreamLegacy` included. The
/// name `cudaStreamPerThread` means another stream on another thread: a batch that ends there is
/// recycled behind the work on `cudaStreamLegacy`, which waits for that of all threads. A null
/// `cudaStream_t`, such as libtorch's default stream, is spelled `stream_ref{cudaStreamLegacy}`.
/// The calling thread's current context, none included, its capture mode and errors of the user's
/// own calls are left as they were; no other GPU is touched.
///
/// CUDA graphs: a stream may be captured, in any mode, while the loader runs. What the loader does
/// is never captured: taking a batch on a stream that is captured (of `cudaStreamLegacy`: while a
/// stream is captured that it waits for) is a `usage_error`, so take it before. A batch that is
/// destroyed while its stream is captured is recycled after the capture, behind the work issued
/// before it: until the next batch is taken the stream must live. Work captured on a batch needs
/// that batch until the graph was launched. Make and destroy loaders outside of captures.
///
/// @param ordinal As CUDA counts: 0 to `cuda_device_count() - 1`.
/// @throws usage_error if there is no such GPU, saying how many there are; cuda_error if it does
/// not answer.
[[nodiscard]] device_ptr make_cuda_device(int ordinal);

/// GPUs this process can use; 0 when there is no GPU or no driver. Never throws.
[[nodiscard]] int cuda_device_count() noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
