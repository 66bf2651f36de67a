#pragma once

#include "io/byte_source.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

inline constexpr std::size_t tar_block_bytes = 512;

/// Whether a file that begins so is a tar archive: its first block is a header with the right
/// checksum.
/// @param head Its first bytes; 512 are enough.
[[nodiscard]] bool is_tar(std::span<const std::byte> head) noexcept;

/// A member's header block, as it stands there: POSIX.1-1988 ("ustar"), GNU's, or of before both.
struct tar_header {
  char type = '0';
  std::string name;
  std::string link;        ///< target of a link
  std::uint64_t size = 0;  ///< claimed size of the data that follows
};

using tar_block = std::array<std::byte, tar_block_bytes>;

[[nodiscard]] bool is_zero(std::span<const std::byte> block) noexcept;

/// @param at Where in the file the block stands.
/// @throws dataset_error naming the byte: no header, a wrong checksum, a size that is no number.
[[nodiscard]] tar_header parse_tar_header(const tar_block& block, std::uint64_t at,
                                          const file_field& name);

/// @param head The file's first bytes; 512 are enough.
/// @throws dataset_error if they belong to a compressed file: names the compression, and how to
/// undo it.
void refuse_compressed(std::span<const std::byte> head, const file_field& name);

/// How strictly an archive is checked: everything that the format demands, or only what tar itself
/// needs to read it.
enum class tar_rules { strict, lenient };

/// Cuts "./" off a member's name (lenient: leading slashes too). feedline writes no member
/// anywhere; but names become keys, and keys file names, in other programs' hands.
/// @return Why the name is refused; null if it is not.
[[nodiscard]] const char* make_tar_name_relative(std::string_view& name, tar_rules rules);

/// A name as a message shows it: within quotes, the middle of a long one left out, no control
/// characters.
[[nodiscard]] std::string quoted_tar_name(std::string_view name);

/// A member's sample and its name within it, as in WebDataset: "train/n01/007.seg.png" is the
/// member "seg.png" of the sample "train/n01/007". Views into the name.
struct tar_sample_name {
  std::string_view key;
  std::string_view extension;  ///< the part after the first dot of the name's last part; not in
                               ///< lower case
};

/// Both empty if the name is of no sample: without a dot, hidden (".DS_Store"), or with a part
/// "__so__".
[[nodiscard]] tar_sample_name split_tar_name(std::string_view name) noexcept;

/// Whether the last part of a name has no dot, so that it is of no sample.
[[nodiscard]] bool has_no_dot(std::string_view name) noexcept;

/// Explains, with a member as the example, that a sample's name ends at the first dot: "'v2.0.jpg'
/// is the member '.0.jpg' of the sample 'v2', for …".
[[nodiscard]] std::string first_dot_words(std::string_view name);

/// A member of a tar archive.
struct tar_member {
  std::string name;          ///< relative, without "." and ".." at its parts
  std::uint64_t header = 0;  ///< offset of its header
  std::uint64_t offset = 0;  ///< offset of its first byte
  std::uint64_t size = 0;    ///< within the file
  /// Empty for a regular file; otherwise its kind: "a hard link to 'a.jpg'".
  std::string instead = {};
};

/// Walks over a tar archive's members, looking at headers only: ustar, GNU's long names, and pax
/// headers. Nothing that they claim is believed beyond the file's end. One thread.
class tar_scanner {
 public:
  /// Reads bytes [offset, offset + out.size()), which lie within the file.
  using read_at = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

  tar_scanner(std::uint64_t file_bytes, std::string path, read_at read,
              tar_rules rules = tar_rules::strict);

  /// The next member, folders and volume labels left out; nothing at the end.
  /// @throws dataset_error naming the byte: not a tar archive, compressed, damaged, cut short,
  /// sparse members,
  ///         names that lead out of the archive; strict: joined from several, absolute names.
  [[nodiscard]] std::optional<tar_member> next();

 private:
  /// Properties of a member given by headers before its own.
  struct extension {
    std::optional<std::string> name = {};
    std::optional<std::string> link = {};
    std::optional<std::uint64_t> size = {};
  };

  [[nodiscard]] bool read_block(tar_block& block);
  [[nodiscard]] std::string read_payload(const tar_header& header, std::uint64_t at);
  void parse_pax(std::string_view records, std::uint64_t at, extension& into) const;
  void require_within(std::uint64_t size, std::uint64_t at, const std::string& what) const;
  void pass(std::uint64_t payload);
  [[nodiscard]] std::optional<tar_member> to_member(tar_header header, std::uint64_t at);
  void require_end(std::uint64_t at);

  std::uint64_t file_bytes_;
  file_field name_;
  read_at read_;
  tar_rules rules_;
  std::uint64_t at_ = 0;  ///< the next header's
  extension global_;
  extension local_;
  bool has_local_ = false;
  bool is_done_ = false;
  std::uint64_t window_begin_ = 0;
  std::vector<std::byte> window_;  ///< bytes of the file that were read ahead
};

}  // namespace feedline::detail
