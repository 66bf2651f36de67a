#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Makes host memory readable by the current GPU's kernels, at the same address: pins the pages that
/// it touches. Arrays may share pages, be mapped several times, and have been pinned by the user
/// before: then they stay so. Blocks. Any thread.
/// @return False if there is not as much memory to pin.
/// @throws cuda_error; device_error where a GPU has another address for such memory.
[[nodiscard]] bool map_memory(std::span<const std::byte> memory);

/// Ends what `map_memory` did for the same memory. Any thread.
void unmap_memory(std::span<const std::byte> memory) noexcept;

}  // namespace feedline::detail
