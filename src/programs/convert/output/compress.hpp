#pragma once

#include "programs/convert/output/job.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace convert {

/// Whether this program has the library that compresses so. `none` needs no library.
[[nodiscard]] bool can_compress(compression filter) noexcept;

/// How a stream of deflate is framed.
enum class deflate_frame : int { zlib = 15, gzip = 31 };  ///< zlib's window bits

// One chunk each. They throw std::bad_alloc if there is no memory, and std::runtime_error if the
// library fails, or if this program was built without it.

/// @param level 1 to 9.
[[nodiscard]] std::vector<std::byte> compress_deflate(std::span<const std::byte> plain,
                                                      unsigned level, deflate_frame frame);
/// A frame. @param level 1 to 19; 0: Zstandard's default.
[[nodiscard]] std::vector<std::byte> compress_zstd(std::span<const std::byte> plain,
                                                   unsigned level);
/// A block, after room for a header. @param header Bytes of that; they are zeros.
/// @throws std::runtime_error also if the chunk has 2 GiB or more, which a block cannot have.
[[nodiscard]] std::vector<std::byte> compress_lz4(std::span<const std::byte> plain,
                                                  std::size_t header);

}  // namespace convert
