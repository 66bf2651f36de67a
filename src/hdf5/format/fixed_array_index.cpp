#include "detail/arithmetic.hpp"
#include "hdf5/format/array_elements.hpp"
#include "hdf5/format/chunk_index.hpp"
#include "hdf5/format/page_bits.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr unsigned checksum_bytes = 4;
constexpr unsigned prefix_bytes = 4 + 1 + 1;  // signature, version, client

struct header {
  unsigned client;
  std::uint64_t elements;
  std::uint64_t page_elements;
  std::optional<std::uint64_t> data;
};

header read_header(hdf5_metadata& metadata, std::uint64_t address, hdf5_array_elements& elements) {
  const auto block = metadata.checked_block(address, prefix_bytes + 2 + metadata.length_bytes() +
                                                         metadata.offset_bytes() + checksum_bytes);
  auto cursor = block.cursor();
  cursor.require_signature("FAHD");
  cursor.require_version(0);
  header read{};
  read.client = cursor.u8();
  elements.set_format(cursor, read.client, cursor.u8());
  read.page_elements = hdf5_page_elements(cursor, cursor.u8());
  read.elements = cursor.number(metadata.length_bytes());
  read.data = metadata.address(cursor);
  if (read.elements < elements.needed())
    cursor.fail("an array shorter than the dataset's chunks are many");
  return read;
}

/// A page begins where it would if all before it were there; those never written to are not.
void read_pages(hdf5_metadata& metadata, const header& header, std::uint64_t first_page,
                const hdf5_page_bits& written, hdf5_array_elements& elements) {
  const std::uint64_t page_bytes = header.page_elements * elements.element_bytes() + checksum_bytes;
  const std::uint64_t pages = divide_up(elements.needed(), header.page_elements);
  if (const auto all = checked_multiply(pages, page_bytes)) metadata.will_need(first_page, *all);
  for (std::uint64_t page = 0; page < pages; ++page) {
    if (!written[page]) continue;
    const std::uint64_t first = page * header.page_elements;
    const std::uint64_t count = std::min(header.page_elements, header.elements - first);
    const auto before = checked_multiply(page, page_bytes);
    if (!before || *before > metadata.file_bytes())
      throw hdf5_metadata_error{metadata.in_file(first_page), "pages larger than the file"};
    const auto block = metadata.checked_block(first_page + *before,
                                              count * elements.element_bytes() + checksum_bytes);
    auto cursor = block.cursor();
    elements.take(cursor, first, count);
  }
}

}  // namespace

void read_hdf5_fixed_array(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                           hdf5_chunk_map& map) {
  hdf5_array_elements elements{metadata, layout, map};
  const auto header = read_header(metadata, *layout.index_address, elements);
  if (!header.data) return;

  const bool is_paged = header.elements > header.page_elements;
  const std::uint64_t pages = divide_up(header.elements, header.page_elements);
  const std::uint64_t bitmap_bytes = is_paged ? divide_up(pages, std::uint64_t{8}) : 0;
  const std::uint64_t front_bytes = prefix_bytes + metadata.offset_bytes() + bitmap_bytes;
  const std::uint64_t own_elements = is_paged ? 0 : header.elements;
  const auto own_bytes = checked_multiply<std::uint64_t>(own_elements, elements.element_bytes());
  if (!own_bytes || *own_bytes > metadata.file_bytes() || bitmap_bytes > metadata.file_bytes())
    throw hdf5_metadata_error{metadata.in_file(*header.data), "an array larger than the file"};

  const auto block =
      metadata.checked_block(*header.data, front_bytes + *own_bytes + checksum_bytes);
  auto cursor = block.cursor();
  cursor.require_signature("FADB");
  cursor.require_version(0);
  if (cursor.u8() != header.client) cursor.fail("an array's data of another kind than its header");
  cursor.skip(metadata.offset_bytes());
  const hdf5_page_bits written{cursor.take(bitmap_bytes)};
  if (is_paged)
    read_pages(metadata, header, *header.data + front_bytes + checksum_bytes, written, elements);
  else
    elements.take(cursor, 0, own_elements);
}

}  // namespace feedline::detail
