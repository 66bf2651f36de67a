#pragma once

#include <cstddef>

namespace feedline::detail {

/// Zeroed memory of the current GPU, to be freed by `cudaFree`; null if there is not enough. Blocks
/// until it is zeroed. @throws cuda_error
[[nodiscard]] void* allocate_on_gpu(std::size_t bytes);

}  // namespace feedline::detail
