#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Allocates zeroed host memory, aligned to a page, that asynchronous copies can read.
///
/// Up to 1 GiB it is ordinary memory, touched by several threads at once and then registered with
/// CUDA, which is several times as fast as cudaHostAlloc. Larger memory comes from cudaHostAlloc,
/// which refuses if there is not enough; touching ordinary memory would then end the process.
/// If other processes are to write it (`shared_staging`), it is shared memory of any size.
/// Blocks. Uses the current device's context.
/// @param bytes At least 1.
/// @return Null if there is not enough memory.
/// @throws cuda_error for any other refusal.
[[nodiscard]] void* allocate_pinned(std::size_t bytes);

/// Frees memory that `allocate_pinned` returned for this number of bytes; null is ignored.
void free_pinned(void* memory, std::size_t bytes) noexcept;

/// Size of a page of the system.
[[nodiscard]] std::size_t page_bytes() noexcept;

/// Makes host memory readable by the current GPU's kernels, at the same address, by pinning its
/// pages. Arrays may overlap and may be mapped several times. Memory that the user has pinned
/// before stays pinned. Blocks. Any thread may call it.
/// @param memory Whole pages. If a page is pinned only in part, CUDA refuses copies of other memory
///               that begin on it and end elsewhere.
/// @return False if there is not enough memory to pin.
/// @throws cuda_error; device_error if a GPU sees such memory at another address; usage_error if
///         the memory is not made of whole pages.
[[nodiscard]] bool map_memory(std::span<const std::byte> memory);

/// Undoes one `map_memory` of the same memory. Any thread may call it.
void unmap_memory(std::span<const std::byte> memory) noexcept;

}  // namespace feedline::detail
