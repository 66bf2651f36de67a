#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

struct hdf5_filter_scratch;

/// Decompresses one block of LZ4's, which must fill `out`. Needs liblz4.
/// @throws hdf5_filter_error if it does not.
void undo_lz4_block(std::span<const std::byte> stored, std::span<std::byte> out);

/// Decompresses Zstandard's frames. Needs libzstd. @return How many bytes came out.
/// @throws hdf5_filter_error if they are damaged, or more would come out than there is room for.
std::size_t undo_zstd_frames(std::span<const std::byte> stored, std::span<std::byte> out,
                             hdf5_filter_scratch& scratch);

/// Whether feedline was built with the library; if not, nothing above may be called.
[[nodiscard]] bool has_lz4() noexcept;
[[nodiscard]] bool has_zstd() noexcept;

}  // namespace feedline::detail
