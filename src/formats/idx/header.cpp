#include "formats/idx/header.hpp"

#include <feedline/dataset/field.hpp>

#include "detail/arithmetic.hpp"

#include <limits>
#include <optional>
#include <string_view>

namespace feedline::detail {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += ' ';
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

/// "THE IDX FILE FORMAT", the third byte of the magic number.
std::optional<element_type> type_of_code(std::byte code) {
  switch (std::to_integer<unsigned>(code)) {
    case 0x08:
      return element_type::u8;
    case 0x09:
      return element_type::i8;
    case 0x0b:
      return element_type::i16;
    case 0x0c:
      return element_type::i32;
    case 0x0d:
      return element_type::f32;
    case 0x0e:
      return element_type::f64;
    default:
      return std::nullopt;
  }
}

/// Checks the magic number; returns the header with as many extents as it announces.
idx_header parse_magic(std::span<const std::byte> magic, const file_field& name) {
  if (magic.size() < idx_magic_bytes)
    throw name.error(magic.size(),
                     "cut short: an IDX file begins with a magic number of 4 bytes; "
                     "get the file anew");
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    throw name.error(0, "not an IDX file: it begins with " + hex(magic) +
                            ", and not with two zero bytes; check that this is the right file");
  const auto type = type_of_code(magic[2]);
  if (!type)
    throw name.error(2, "not an IDX file: 0x" + hex(magic.subspan(2, 1)) +
                            " is no element type of the format (08, 09, 0b, 0c, 0d, 0e); check "
                            "that this is the right file");
  const auto rank = std::to_integer<std::size_t>(magic[3]);
  if (rank == 0)
    throw name.error(3,
                     "the header announces no dimensions; a dataset needs one that counts its "
                     "samples");
  return {*type, std::vector<std::uint64_t>(rank), 0};
}

}  // namespace

std::string idx_header::describe() const {
  return to_string(field{{}, type, extents}).substr(2);  // without the name and ": "
}

idx_header read_idx_header(std::span<const std::byte> magic, byte_source& rest,
                           const file_field& name) {
  idx_header header = parse_magic(magic, name);
  std::uint64_t offset = idx_magic_bytes;
  std::size_t bytes = size_bytes(header.type);
  bool fits = true;
  for (auto& extent : header.extents) {
    std::array<std::byte, 4> word{};
    if (const std::size_t got = rest.read(word); got < word.size())
      throw name.error(offset + got, "cut short within the header, which announces " +
                                         std::to_string(header.extents.size()) +
                                         " dimensions; get the file anew");
    for (const std::byte byte : word) extent = extent << 8 | std::to_integer<std::uint64_t>(byte);
    if (extent == 0)
      throw name.error(offset, &extent == header.extents.data()
                                   ? "the file holds zero samples"
                                   : "a dimension is 0, so a sample would hold nothing");
    const auto product = checked_multiply<std::size_t>(bytes, extent);
    fits = fits && product;
    bytes = product.value_or(0);
    offset += word.size();
  }
  header.payload_bytes = bytes;
  if (!fits || bytes > std::numeric_limits<std::size_t>::max() - offset)
    throw name.error(idx_magic_bytes, "the header announces " + header.describe() +
                                          ", more bytes than 64 bits can count; the file is "
                                          "damaged, get it anew");
  return header;
}

}  // namespace feedline::detail
