#pragma once

#include "io/byte_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

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

struct refused_name {
  std::string why;
};

/// What is asked of an archive: all that the format demands, or only what tar itself needs to read it.
enum class tar_rules { strict, lenient };

/// A member's name without "./" before it (lenient: without leading slashes either), or why it is
/// refused. feedline writes no member anywhere; but names become keys, and keys file names, in other
/// programs' hands.
[[nodiscard]] std::variant<std::string, refused_name> checked_tar_name(std::string_view name,
                                                                       tar_rules rules);

/// A name as a message shows it: within quotes, the middle of a long one left out, no control characters.
[[nodiscard]] std::string quoted_tar_name(std::string_view name);

/// A member's place in a sample, in WebDataset's manner: "train/n01/007.seg.png" is the member "seg.png" of
/// the sample "train/n01/007". Views into the name.
struct tar_sample_name {
  std::string_view key;
  std::string_view extension;  ///< behind the first dot of the name's last part; not in lower case
};

/// Both empty if the name is of no sample: without a dot, hidden (".DS_Store"), or with a part "__so__".
[[nodiscard]] tar_sample_name split_tar_name(std::string_view name) noexcept;

}  // namespace feedline::detail
