#pragma once

#include <cstddef>

namespace feedline::detail {

/// Zeroed memory of the current GPU, for `cudaFree`; null if there is not as much. Blocks until it
/// is zeroed. @throws cuda_error
[[nodiscard]] void* allocate_on_gpu(std::size_t bytes);

}  // namespace feedline::detail
