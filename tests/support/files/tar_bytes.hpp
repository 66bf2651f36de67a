#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::test {

/// A tar archive as it is written, member by member; headers may lie.
class tar_bytes {
 public:
  using byte_vector = std::vector<std::byte>;

  /// Parts of a header that do not follow from its member.
  struct header {
    char type = '0';
    std::string link = {};
    std::string prefix = {};
    std::string size = {};  ///< 12 bytes in place of the size's octal digits
    bool is_gnu = false;    ///< GNU's magic, not POSIX's
    bool is_old = false;    ///< no magic at all
  };

  tar_bytes& add(std::string_view name, std::string_view content);
  tar_bytes& add(std::string_view name, std::span<const std::byte> content);
  tar_bytes& add(std::string_view name, std::span<const std::byte> content, const header& says);
  /// A header alone.
  tar_bytes& add_header(std::string_view name, std::uint64_t size, const header& says);
  /// A pax header with these records, "key=value".
  tar_bytes& add_pax(const std::vector<std::string>& records, char type = 'x');
  /// GNU's header of a name (type 'L') or a link (type 'K').
  tar_bytes& add_long_name(std::string_view name, char type = 'L');

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  /// With the two blocks of zeros that end an archive.
  [[nodiscard]] byte_vector ended() const;
  [[nodiscard]] const byte_vector& unended() const noexcept { return bytes_; }

 private:
  byte_vector bytes_;
};

/// Sets a header's checksum again. @param at Where the header begins.
void set_tar_checksum(std::vector<std::byte>& archive, std::size_t at);

}  // namespace feedline::test
