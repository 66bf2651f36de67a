#pragma once

#include "io/byte_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

inline constexpr std::size_t tar_block_bytes = 512;

/// Whether a file that begins so is a tar archive: its first block is a header with the right checksum.
/// @param head Its first bytes; 512 are enough.
[[nodiscard]] bool is_tar(std::span<const std::byte> head) noexcept;

/// A member's header block, as it stands there: POSIX.1-1988 ("ustar"), GNU's, or of before both.
struct tar_header {
  char type = '0';
  std::string name;
  std::string link;        ///< what a link leads to
  std::uint64_t size = 0;  ///< as claimed, of whatever follows
};

using tar_block = std::array<std::byte, tar_block_bytes>;

[[nodiscard]] bool is_zero(std::span<const std::byte> block) noexcept;

/// @param at Where in the file the block stands.
/// @throws dataset_error naming the byte: no header, a wrong checksum, a size that is no number.
[[nodiscard]] tar_header parse_tar_header(const tar_block& block, std::uint64_t at,
                                          const file_field& name);

/// @param head The file's first bytes; 512 are enough.
/// @throws dataset_error if they are of a compressed file: by what, and how to undo that.
void refuse_compressed(std::span<const std::byte> head, const file_field& name);

}  // namespace feedline::detail
