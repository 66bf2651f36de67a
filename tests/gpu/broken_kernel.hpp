#pragma once

#include <cuda_runtime_api.h>

namespace feedline::test {

/// A kernel of the user's that writes where nothing is. From the moment it runs on, every call on
/// the GPU's context is refused with the same error, for the process's life.
void break_context(cudaStream_t stream);

}  // namespace feedline::test
