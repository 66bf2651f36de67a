#include "formats/idx/array.hpp"

#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "detail/text.hpp"
#include "formats/read_elements.hpp"
#include "io/gzip_source.hpp"

#include <array>
#include <bit>
#include <limits>
#include <new>
#include <optional>

namespace feedline::detail {
namespace {

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
    throw name.error(0, "not an IDX file: it begins with " + to_hex(magic) +
                            ", and not with two zero bytes; check that this is the right file");
  const auto type = type_of_code(magic[2]);
  if (!type)
    throw name.error(2, "not an IDX file: 0x" + to_hex(magic.subspan(2, 1)) +
                            " is no element type of the format (08, 09, 0b, 0c, 0d, 0e); check "
                            "that this is the right file");
  const auto rank = std::to_integer<std::size_t>(magic[3]);
  if (rank == 0)
    throw name.error(3,
                     "the header announces no dimensions; a dataset needs one that counts its "
                     "samples");
  return {*type, std::vector<std::uint64_t>(rank), 0};
}

/// Reads an IDX header and stops at the first element. Nothing that it says is believed beyond what
/// the numbers themselves allow.
/// @param magic  The first bytes, read already; fewer than four if the file has no more.
/// @throws dataset_error: not IDX, cut short, no samples, sizes that overflow.
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
    extent = big_endian(word);
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

/// Reads a content's elements into memory that grows with them.
class element_reader {
 public:
  element_reader(const idx_header& header, byte_source& content, const file_field& name)
      : header_{header}, content_{content}, name_{name} {}

  row_storage read() const try {
    const auto size = content_.size();
    if (size) require_end_at(*size);
    row_storage storage =
        read_elements(content_, header_.payload_bytes, size.has_value(),
                      [&](std::size_t count) { require_end_at(header_.header_bytes() + count); });
    std::array<std::byte, 1> beyond{};
    if (content_.read(beyond) != 0) throw over_long("goes on");
    return storage;
  } catch (const std::bad_alloc&) {
    throw name_.error(header_.header_bytes(),
                      "the elements (" + header_.describe() + ") take " +
                          std::to_string(header_.payload_bytes) +
                          " bytes of memory, which are not to be had; split the file");
  }

 private:
  void require_end_at(std::uint64_t size) const {
    if (size < header_.end())
      throw name_.error(size, "cut short: the header announces " + header_.describe() +
                                  ", so the file should be " + std::to_string(header_.end()) +
                                  " bytes, but it ends here; get "
                                  "the file anew");
    if (size > header_.end()) throw over_long("is " + std::to_string(size) + " bytes");
  }

  dataset_error over_long(const std::string& but) const {
    return name_.error(header_.end(), "over-long: the header announces " + header_.describe() +
                                          ", so the file should end here, but it " + but +
                                          "; the header or the file is damaged, get it anew");
  }

  const idx_header& header_;
  byte_source& content_;
  const file_field& name_;
};

idx_array read_content(std::span<const std::byte> magic, byte_source& rest,
                       const file_field& name) {
  idx_array array;
  array.header = read_idx_header(magic, rest, name);
  array.elements = element_reader{array.header, rest, name}.read();
  if constexpr (std::endian::native == std::endian::little)
    reverse_elements(array.elements.bytes(), size_bytes(array.header.type));
  return array;
}

}  // namespace

std::string idx_header::describe() const {
  return to_string(field{{}, type, extents}).substr(2);  // without the name and ": "
}

bool may_be_idx(std::span<const std::byte> head) noexcept {
  return head.size() >= idx_magic_bytes && head[0] == std::byte{} && head[1] == std::byte{} &&
         type_of_code(head[2]) && head[3] != std::byte{};
}

bool is_idx(std::span<const std::byte> head, std::uint64_t file_bytes) try {
  if (!may_be_idx(head)) return false;
  memory_source rest{head.subspan(idx_magic_bytes)};
  return read_idx_header(head.first(idx_magic_bytes), rest, {}).end() == file_bytes;
} catch (const dataset_error&) {
  return false;
}

idx_array read_idx(byte_source& file, const file_field& name) {
  std::array<std::byte, idx_magic_bytes> head{};
  const auto begin = std::span{head}.first(file.read(head));
  if (!is_gzip(begin)) return read_content(begin, file, name);

  gzip_source content{file, begin, name};
  const file_field decompressed{name.path, name.field, " (the byte is the decompressed file's)"};
  std::array<std::byte, idx_magic_bytes> magic{};
  const std::size_t got = content.read(magic);
  return read_content(std::span{magic}.first(got), content, decompressed);
}

memory_field to_field(const idx_array& array, std::string field_name) {
  const auto& extents = array.header.extents;
  return {{std::move(field_name), array.header.type, {extents.begin() + 1, extents.end()}},
          array.elements.bytes(),
          array.elements.owner()};
}

}  // namespace feedline::detail
