#pragma once

#include <feedline/device/device_ptr.hpp>
#include <feedline/export.hpp>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A CUDA GPU. Staging memory is pinned, copies run on a non-blocking stream owned by the pipeline,
/// and consumers name their own stream.
///
/// Any stream of the same GPU works, including `cudaStreamPerThread` and `cudaStreamLegacy`. The
/// name `cudaStreamPerThread` means a different stream on each thread. So a batch that ends on it
/// is recycled after the work on `cudaStreamLegacy`, which waits for the per-thread streams of all
/// threads. Spell a null `cudaStream_t`, such as libtorch's default stream,
/// `stream_ref{cudaStreamLegacy}`. The calling thread's current context (even if there is none),
/// its capture mode and the errors of the user's own calls are left unchanged. No other GPU is
/// touched.
///
/// CUDA graphs: a stream may be captured, in any mode, while the loader runs. The loader's own
/// calls are never captured. Taking a batch on a captured stream is a `usage_error`, so take it
/// before the capture. The same holds for `cudaStreamLegacy` while any stream that it waits for is
/// captured. A batch that is destroyed while its stream is captured is recycled after the capture,
/// after the work issued before the capture. The stream must live until the next batch is taken.
/// Work captured on a batch needs that batch until the graph was launched. Create and destroy
/// loaders outside of captures.
///
/// @param ordinal CUDA's number of the GPU: 0 to `cuda_device_count() - 1`.
/// @throws usage_error if there is no such GPU, saying how many there are; cuda_error if it does
/// not answer.
[[nodiscard]] device_ptr make_cuda_device(int ordinal);

/// Number of GPUs that this process can use; 0 if there is no GPU or no driver. Never throws.
[[nodiscard]] int cuda_device_count() noexcept;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
