#pragma once

#include <feedline/backend/assembly.hpp>

#include <cuda_runtime_api.h>

namespace feedline::detail {

/// Loads the kernels of assemblies on the current GPU, so that none of them waits for other kernels
/// at its first launch. @throws cuda_error.
void load_assembly_kernels();

/// Issues the kernels of an assembly on a stream of the current GPU, and returns: a launch for the
/// fields that are converted or copied, and one for those whose pixels are computed. A launch takes
/// `max_parts`, so many fields, or fields that are also cached, take more launches.
/// @throws cuda_error; usage_error if the work has more of something than a kernel can count.
void issue_assembly(const assembly& work, cudaStream_t stream);

}  // namespace feedline::detail
