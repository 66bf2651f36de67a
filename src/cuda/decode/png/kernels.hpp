#pragma once

#include "cuda/decode/jpeg/kernels.hpp"

#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Loads the kernels issued below, on the current GPU. @throws cuda_error.
void load_png_kernels();

/// Issues the kernels that decode a batch of PNGs to pixels, on a stream of the current GPU: checks
/// headers and checksums, inflates, undoes filters. Sets the `bad` words of loads whose headers
/// differ from what the load says, and of damaged files. @throws cuda_error.
void issue_png(const jpeg_batch& batch, cudaStream_t stream);

}  // namespace feedline::detail
