#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Allocates zeroed host memory that copies can be made from asynchronously, aligned to a page.
///
/// Up to 1 GiB it is ordinary memory, touched by several threads at once and then registered with
/// CUDA, which is several times as fast as cudaHostAlloc; beyond that it is cudaHostAlloc's, which
/// refuses what is not there where touching would end the process.
/// Blocks. The current device's context is used.
/// @param bytes At least 1.
/// @return Null if there is not as much memory.
/// @throws cuda_error for any other refusal.
[[nodiscard]] void* allocate_pinned(std::size_t bytes);

/// Frees what `allocate_pinned` gave for so many bytes; null is nothing.
void free_pinned(void* memory, std::size_t bytes) noexcept;

/// Of the system's pages.
[[nodiscard]] std::size_t page_bytes() noexcept;

/// Makes host memory readable by the current GPU's kernels, at the same address: pins its pages.
/// Arrays may overlap, be mapped several times, and have been pinned by the user before: then they
/// stay so. Blocks. Any thread.
/// @param memory Whole pages. Where one is pinned in part, CUDA refuses copies of other memory that
///               begin on it and end elsewhere.
/// @return False if there is not as much memory to pin.
/// @throws cuda_error; device_error where a GPU has another address for such memory; usage_error if
///         the memory is not of whole pages.
[[nodiscard]] bool map_memory(std::span<const std::byte> memory);

/// Ends what `map_memory` did for the same memory. Any thread.
void unmap_memory(std::span<const std::byte> memory) noexcept;

}  // namespace feedline::detail
