#include "formats/idx/array.hpp"

#include <feedline/formats/idx.hpp>

#include "detail/byte_order.hpp"
#include "detail/text.hpp"
#include "io/file_system.hpp"
#include "io/gzip_source.hpp"

#include <array>
#include <bit>
#include <new>
#include <optional>

namespace feedline::detail {
namespace {

/// An IDX file begins with two zero bytes, the element type and the number of dimensions.
constexpr std::size_t idx_magic_bytes = 4;

/// "THE IDX FILE FORMAT", the third byte of the magic number.
std::optional<element_type> type_of_code(std::byte code) {
  using enum element_type;
  constexpr std::array<std::optional<element_type>, 7> types{u8, i8, {}, i16, i32, f32, f64};
  const auto number = std::to_integer<std::size_t>(code);
  return number >= 8 && number - 8 < types.size() ? types[number - 8] : std::nullopt;
}

/// Checks the magic number; returns the header with the number of extents that it announces.
array_header parse_magic(std::span<const std::byte> magic, const file_field& name) {
  if (magic.size() < idx_magic_bytes)
    throw name.error(magic.size(),
                     "cut short: an IDX file begins with a magic number of 4 bytes; "
                     "get the file again");
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    throw name.error(0, "not an IDX file: it begins with " + to_hex(magic) +
                            ", and not with two zero bytes; check that this is the right file");
  const auto type = type_of_code(magic[2]);
  if (!type)
    throw name.error(2, "not an IDX file: 0x" + to_hex(magic.subspan(2, 1)) +
                            " is not an element type of the format (08, 09, 0b, 0c, 0d, 0e); check "
                            "that this is the right file");
  const auto rank = std::to_integer<std::size_t>(magic[3]);
  if (rank == 0)
    throw name.error(3,
                     "the header announces no dimensions; a dataset needs one that counts its "
                     "samples");
  return {.type = *type, .extents = std::vector<std::uint64_t>(rank)};
}

/// Reads an IDX header and stops at the first element. Its claims are trusted only within the
/// limits of the numbers themselves.
/// @param magic  The first bytes, read already; fewer than four if the file has no more.
/// @throws dataset_error: not IDX, cut short, no samples, sizes that overflow.
array_header read_idx_header(std::span<const std::byte> magic, byte_source& rest,
                             const file_field& name) {
  array_header header = parse_magic(magic, name);
  header.header_bytes = idx_magic_bytes;
  for (auto& extent : header.extents) {
    std::array<std::byte, 4> word{};
    if (const std::size_t got = rest.read(word); got < word.size())
      throw name.error(header.header_bytes + got, "cut short within the header, which announces " +
                                                      std::to_string(header.extents.size()) +
                                                      " dimensions; get the file again");
    extent = big_endian(word);
    if (extent == 0)
      throw name.error(header.header_bytes, &extent == header.extents.data()
                                                ? "the file holds zero samples"
                                                : "a dimension is 0, so a sample would hold "
                                                  "nothing");
    header.header_bytes += word.size();
  }
  header.count_payload(idx_magic_bytes, name);
  return header;
}

row_storage read_elements(const array_header& header, byte_source& content,
                          const file_field& name) try {
  const std::string damage = "; the header or the file is damaged, get it again";
  const auto size = content.size();
  if (size) header.require_room(*size, name);
  if (size && *size > header.end())
    throw header.over_long("is " + std::to_string(*size) + " bytes" + damage, name);
  row_storage elements = header.read_elements(content, size.has_value(), name);
  std::array<std::byte, 1> beyond{};
  if (content.read(beyond) != 0) throw header.over_long("continues" + damage, name);
  return elements;
} catch (const std::bad_alloc&) {
  throw header.no_memory("split the file", name);
}

idx_array read_content(std::span<const std::byte> magic, byte_source& rest,
                       const file_field& name) {
  idx_array array;
  array.header = read_idx_header(magic, rest, name);
  array.elements = read_elements(array.header, rest, name);
  if constexpr (std::endian::native == std::endian::little)
    reverse_elements(array.elements.bytes(), size_bytes(array.header.type));
  return array;
}

}  // namespace

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

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

detail::idx_array read_file(const detail::file_field& name) {
  return detail::read_idx(*detail::open_stream(name), name);
}

}  // namespace

dataset_ptr open_idx(const std::string& images, const std::string& labels) {
  const detail::file_field image{images, "image"};
  const detail::file_field label{labels, "label"};

  // The labels first: they are small, and reveal most mix-ups of the two files.
  const detail::idx_array label_array = read_file(label);
  const auto& extents = label_array.header.extents;
  if (extents.size() != 1)
    throw label.error(3, "labels are one-dimensional, but this file holds " +
                             label_array.header.describe() +
                             "; check that images and labels are not swapped");
  const detail::idx_array image_array = read_file(image);
  if (image_array.header.extents[0] != extents[0])
    throw label.error(detail::idx_magic_bytes, "holds " + std::to_string(extents[0]) +
                                                   " labels, but " + image.path + " holds " +
                                                   std::to_string(image_array.header.extents[0]) +
                                                   " images; use the two files of one set");
  return make_memory_dataset({image_array.header.to_field(image.field, image_array.elements),
                              label_array.header.to_field(label.field, label_array.elements)});
}

dataset_ptr open_idx_file(const std::string& file, std::string field_name) {
  const detail::idx_array array = read_file({file, field_name});
  return make_memory_dataset({array.header.to_field(field_name, array.elements)});
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
