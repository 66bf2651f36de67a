#include "formats/idx/array.hpp"

#include "detail/byte_order.hpp"
#include "io/gzip_source.hpp"

#include <bit>
#include <new>

namespace feedline::detail {
namespace {

/// What is allocated before any byte has arrived, where the number of bytes is only a claim.
constexpr std::size_t first_piece_bytes = std::size_t{1} << 20;

void big_endian_to_native(std::span<std::byte> elements, std::size_t element_bytes) {
  if constexpr (std::endian::native == std::endian::little)
    reverse_elements(elements, element_bytes);
}

/// Reads a content's elements into memory that grows with them.
class element_reader {
 public:
  element_reader(const idx_header& header, byte_source& content, const file_field& name)
      : header_{header}, content_{content}, name_{name} {}

  row_storage read() {
    if (const auto size = content_.size()) require_end_at(*size);
    const bool size_is_known = content_.size().has_value();
    const std::size_t wanted = header_.payload_bytes;
    row_storage storage;
    std::size_t count = 0;
    while (count < wanted) {
      const std::size_t doubled = count > wanted / 2 ? wanted : 2 * count;
      grow(storage,
           size_is_known ? wanted : std::min(wanted, std::max(doubled, first_piece_bytes)));
      const auto room = storage.bytes().subspan(count);
      const std::size_t got = content_.read(room);
      count += got;
      if (got < room.size()) require_end_at(header_.header_bytes() + count);
    }
    std::array<std::byte, 1> beyond{};
    if (content_.read(beyond) != 0) throw over_long("goes on");
    return storage;
  }

 private:
  void grow(row_storage& storage, std::size_t bytes) const {
    try {
      storage.grow(bytes);
    } catch (const std::bad_alloc&) {
      throw name_.error(header_.header_bytes(),
                        "the elements (" + header_.describe() + ") take " +
                            std::to_string(header_.payload_bytes) +
                            " bytes of memory, which are not to be had; split the file");
    }
  }

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
  big_endian_to_native(array.elements.bytes(), size_bytes(array.header.type));
  return array;
}

}  // namespace

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
