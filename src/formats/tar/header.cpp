#include "formats/tar/scanner.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <tuple>

namespace feedline::detail {
namespace {

/// A range within a header block. Format: "ustar Interchange Format" in POSIX's pax, and "Basic Tar
/// Format" in the manual of GNU tar.
struct place {
  std::size_t offset;
  std::size_t bytes;
};
constexpr place name_place{0, 100};
constexpr place size_place{124, 12};
constexpr place checksum_place{148, 8};
constexpr std::size_t type_offset = 156;
constexpr place link_place{157, 100};
constexpr place magic_place{257, 6};
constexpr place prefix_place{345, 155};

std::string_view text_at(std::span<const std::byte> block, place where) {
  return {reinterpret_cast<const char*>(block.data()) + where.offset, where.bytes};
}

/// Up to the first NUL, which need not be there.
std::string_view string_at(std::span<const std::byte> block, place where) {
  const std::string_view whole = text_at(block, where);
  return whole.substr(0, whole.find('\0'));
}

/// A number in octal digits, with blanks around them; blank altogether is 0.
std::optional<std::uint64_t> octal(std::string_view text) {
  text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  const std::size_t end = std::min(text.find_first_not_of("01234567"), text.size());
  if (text.find_first_not_of(std::string_view{" \0", 2}, end) != std::string_view::npos)
    return std::nullopt;
  std::uint64_t value = 0;  // at most 12 digits of 3 bits
  for (const char digit : text.substr(0, end))
    value = value << 3U | static_cast<std::uint64_t>(digit - '0');
  return value;
}

/// A number in octal, or, with the highest bit set, in base 256; nothing if it is negative, too
/// large, or no number.
std::optional<std::uint64_t> number_at(std::span<const std::byte> block, place where) {
  const auto bytes = block.subspan(where.offset, where.bytes);
  const auto lead = std::to_integer<unsigned>(bytes[0]);
  if ((lead & 0x80U) == 0) return octal(text_at(block, where));
  std::uint64_t value = lead & 0x7fU;
  for (const std::byte byte : bytes.subspan(1)) {
    if (value >> 55U != 0) return std::nullopt;  // 63 bits are enough for any offset; 0xff is minus
    value = value << 8U | std::to_integer<std::uint64_t>(byte);
  }
  return value;
}

/// The sum of the block's bytes, with blanks in place of the checksum; some old programs took bytes
/// for signed.
bool has_right_checksum(std::span<const std::byte> block) {
  const auto claimed = number_at(block, checksum_place);
  if (!claimed) return false;
  std::int64_t plain = 0;
  std::int64_t with_signs = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool is_checksum =
        i >= checksum_place.offset && i < checksum_place.offset + checksum_place.bytes;
    const auto byte = is_checksum ? std::uint8_t{' '} : std::to_integer<std::uint8_t>(block[i]);
    plain += byte;
    with_signs += static_cast<std::int8_t>(byte);
  }
  return *claimed == static_cast<std::uint64_t>(plain) ||
         static_cast<std::int64_t>(*claimed) == with_signs;
}

/// The first part of a path, cut off from it.
std::string_view take_part(std::string_view& path) {
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(std::min(path.size(), part.size() + 1));
  return part;
}

}  // namespace

bool is_zero(std::span<const std::byte> block) noexcept {
  return std::ranges::all_of(block, [](std::byte byte) { return byte == std::byte{}; });
}

bool is_tar(std::span<const std::byte> head) noexcept {
  if (head.size() < tar_block_bytes) return false;
  const auto block = head.first(tar_block_bytes);
  return !is_zero(block) && has_right_checksum(block) && number_at(block, size_place);
}

tar_header parse_tar_header(const tar_block& block, std::uint64_t at, const file_field& name) {
  if (!has_right_checksum(block))
    throw name.error(
        at, at == 0
                ? "not a tar archive: its first 512 bytes are not a header with a right checksum; "
                  "check that this is the right file"
                : "a member's header should stand here, but its checksum is wrong: the archive is "
                  "damaged, or the member before it lies about its size; get it again");
  const auto size = number_at(block, size_place);
  if (!size)
    throw name.error(
        at + size_place.offset,
        "the header's size is not a number of bytes; the archive is damaged, get it again");

  tar_header header;
  header.type = static_cast<char>(std::to_integer<unsigned char>(block[type_offset]));
  header.size = *size;
  header.link = string_at(block, link_place);
  // POSIX splits a long name in two; GNU keeps other things there.
  if (text_at(block, magic_place) == std::string_view{"ustar\0", 6})
    header.name = string_at(block, prefix_place);
  if (!header.name.empty()) header.name += '/';
  header.name += string_at(block, name_place);
  return header;
}

void refuse_compressed(std::span<const std::byte> head, const file_field& name) {
  if (is_tar(head)) return;  // the first member of a tar file may have any name
  for (const auto& [is_it, kind, program] :
       {std::tuple{begins_with<2>(head, {0x1f, 0x8b}), "gzip", "gunzip"},
        std::tuple{begins_with<4>(head, {0x28, 0xb5, 0x2f, 0xfd}), "zstd", "unzstd"},
        std::tuple{begins_with<3>(head, {'B', 'Z', 'h'}), "bzip2", "bunzip2"},
        std::tuple{begins_with<6>(head, {0xfd, '7', 'z', 'X', 'Z', 0}), "xz", "unxz"}})
    if (is_it)
      throw name.error(0, std::string{"compressed by "} + kind +
                              ", so that samples cannot be read in any order; decompress it once "
                              "with " +
                              program);
}

const char* make_tar_name_relative(std::string_view& name, tar_rules rules) {
  if (name.find('\0') != std::string_view::npos)
    return "has a zero byte in its name; the archive is damaged, get it again";
  if (name.starts_with('/')) {
    if (rules == tar_rules::strict)
      return "has an absolute name; make the archive with relative ones, or open it with "
             "tar_options::lenient";
    name.remove_prefix(std::min(name.find_first_not_of('/'), name.size()));
  }
  while (name.starts_with("./"))  // with all slashes: ".//a" is no absolute name
    name.remove_prefix(std::min(name.find_first_not_of('/', 1), name.size()));
  if (name.empty()) return "has no name; the archive is damaged, get it again";
  for (std::string_view rest = name; !rest.empty();)
    if (take_part(rest) == "..")
      return "has a name that leads out of the archive; make it without '..'";
  return nullptr;
}

std::string quoted_tar_name(std::string_view name) {
  constexpr std::size_t most = 300;
  std::string text{name};
  if (text.size() > most) text.replace(most / 2, text.size() - most, "...");
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) letter = '?';
  return "'" + text + "'";
}

tar_sample_name split_tar_name(std::string_view name) noexcept {
  for (std::string_view rest = name; !rest.empty();)
    if (const auto part = take_part(rest);
        part.size() >= 4 && part.starts_with("__") && part.ends_with("__"))
      return {};
  const std::size_t last = name.rfind('/') + 1;  // npos + 1 is 0
  const std::size_t dot = name.find('.', last);
  if (dot == std::string_view::npos || dot == last) return {};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

bool has_no_dot(std::string_view name) noexcept {
  return name.find('.', name.rfind('/') + 1) == std::string_view::npos;
}

std::string first_dot_words(std::string_view name) {
  const tar_sample_name parts = split_tar_name(name);
  return quoted_tar_name(name) + " is the member " +
         quoted_tar_name('.' + std::string{parts.extension}) + " of the sample " +
         quoted_tar_name(parts.key) +
         ", because a sample's name ends at the first dot; write the archive with names that have "
         "no "
         "other dot";
}

}  // namespace feedline::detail
