#pragma once

#include "cuda/decode/jpeg/batch.hpp"

#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Issues what resizes decoded images to their rows: to the bit what `resampler` makes of the same
/// pixels. @param batch At least one image. @throws cuda_error.
void issue_resize(const jpeg_batch& batch, cudaStream_t stream);

}  // namespace feedline::detail
