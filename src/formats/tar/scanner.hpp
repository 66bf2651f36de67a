#pragma once

#include "formats/tar/header.hpp"
#include "io/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// A member of a tar archive.
struct tar_member {
  std::string name;          ///< relative, without "." and ".." at its parts
  std::uint64_t header = 0;  ///< offset of its header
  std::uint64_t offset = 0;  ///< of its first byte
  std::uint64_t size = 0;    ///< within the file
  /// Empty for a regular file; else what it is instead: "a hard link to 'a.jpg'".
  std::string instead = {};
};

/// Walks over a tar archive's members, looking at headers only: ustar, GNU's long names, and pax headers.
/// Nothing that they claim is believed beyond the file's end. One thread.
class tar_scanner {
 public:
  /// Reads bytes [offset, offset + out.size()), which lie within the file.
  using read_at = std::function<void(std::uint64_t offset, std::span<std::byte> out)>;

  tar_scanner(std::uint64_t file_bytes, std::string path, read_at read,
              tar_rules rules = tar_rules::strict);

  /// The next member, folders and volume labels left out; nothing at the end.
  /// @throws dataset_error naming the byte: not a tar archive, compressed, damaged, cut short, sparse members,
  ///         names that lead out of the archive; strict: joined from several, absolute names.
  [[nodiscard]] std::optional<tar_member> next();

 private:
  /// What headers before a member's own say of it.
  struct extension {
    std::optional<std::string> name = {};
    std::optional<std::string> link = {};
    std::optional<std::uint64_t> size = {};
  };

  [[nodiscard]] bool read_block(tar_block& block);
  [[nodiscard]] std::string read_payload(const tar_header& header, std::uint64_t at);
  void parse_pax(std::string_view records, std::uint64_t at, extension& into) const;
  void parse_pax_value(std::string_view key, std::string_view value, std::uint64_t at,
                       extension& into) const;
  void require_within(std::uint64_t size, std::uint64_t at, const std::string& what) const;
  void pass(std::uint64_t payload);
  [[nodiscard]] std::optional<tar_member> to_member(tar_header header, std::uint64_t at);
  void require_end(std::uint64_t at);
  void pass_zeros();

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
