#include "dataset/idx_array.hpp"

#include "dataset/gzip_source.hpp"

#include <bit>
#include <new>

namespace feedline::detail {
namespace {

/// What is allocated before any byte has arrived, where the number of bytes is only a claim.
constexpr std::size_t first_piece_bytes = std::size_t{1} << 20;

/// Reverses the bytes of each element. `Word` is an unsigned integer of the element's size.
template <class Word>
void reverse_elements(std::span<std::byte> elements) {
  for (std::size_t at = 0; at < elements.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, elements.data() + at, sizeof word);
    if constexpr (sizeof(Word) == 2) word = __builtin_bswap16(word);
    if constexpr (sizeof(Word) == 4) word = __builtin_bswap32(word);
    if constexpr (sizeof(Word) == 8) word = __builtin_bswap64(word);
    std::memcpy(elements.data() + at, &word, sizeof word);
  }
}

void big_endian_to_native(std::span<std::byte> elements, std::size_t element_bytes) {
  if constexpr (std::endian::native == std::endian::big) return;
  if (element_bytes == 2) reverse_elements<std::uint16_t>(elements);
  if (element_bytes == 4) reverse_elements<std::uint32_t>(elements);
  if (element_bytes == 8) reverse_elements<std::uint64_t>(elements);
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
