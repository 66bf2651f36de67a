#include "detail/arithmetic.hpp"
#include "hdf5/format/array_elements.hpp"
#include "hdf5/format/chunk_index.hpp"
#include "hdf5/format/page_bits.hpp"

#include <algorithm>
#include <bit>

namespace feedline::detail {
namespace {

constexpr unsigned checksum_bytes = 4;
constexpr unsigned prefix_bytes = 4 + 1 + 1;  // signature, version, client

unsigned log2_of(const hdf5_cursor& header, unsigned power) {
  if (!std::has_single_bit(power))
    header.fail("an array growing by " + std::to_string(power) + ", which is no power of two");
  return static_cast<unsigned>(std::countr_zero(power));
}

/// What an array's header fixes. Its elements lie in the index block itself, then in data blocks; data
/// blocks are named by the index block or, of later elements, by super blocks, which it names. Data blocks come in
/// groups, one for each super block there could be; group g has 2^⌊g/2⌋ of them with
/// 2^⌈g/2⌉ × `smallest_block` elements each.
struct header {
  unsigned client = 0;
  unsigned index_bits = 0;  ///< so many bits count all elements
  std::uint64_t index_elements = 0;
  std::uint64_t smallest_block = 0;
  std::uint64_t page_elements = 0;
  unsigned groups = 0;
  unsigned direct_groups = 0;  ///< whose data blocks the index block names
  std::optional<std::uint64_t> index_block = {};

  [[nodiscard]] unsigned index_bytes() const noexcept { return (index_bits + 7) / 8; }
};

struct group {
  std::uint64_t blocks;
  std::uint64_t block_elements;
};

group group_of(const header& header, unsigned number) {
  return {.blocks = std::uint64_t{1} << number / 2,
          .block_elements = header.smallest_block << (number + 1) / 2};
}

class reader {
 public:
  reader(hdf5_metadata& metadata, const hdf5_chunk_layout& layout, hdf5_chunk_map& map)
      : metadata_{metadata}, elements_{metadata, layout, map} {}

  void read(std::uint64_t address) {
    read_header(address);
    if (header_.index_block) read_index_block(*header_.index_block);
  }

 private:
  void read_header(std::uint64_t address) {
    constexpr unsigned statistics = 6;
    const auto block =
        metadata_.checked_block(address, prefix_bytes + 6 + statistics * metadata_.length_bytes() +
                                             metadata_.offset_bytes() + checksum_bytes);
    auto cursor = block.cursor();
    cursor.require_signature("EAHD");
    cursor.require_version(0);
    header_.client = cursor.u8();
    elements_.set_format(cursor, header_.client, cursor.u8());
    header_.index_bits = cursor.u8();
    header_.index_elements = cursor.u8();
    header_.smallest_block = cursor.u8();
    const unsigned pointers = cursor.u8();  // fewest data blocks that a super block names
    header_.page_elements = hdf5_page_elements(cursor, cursor.u8());
    const unsigned smallest_bits = log2_of(cursor, static_cast<unsigned>(header_.smallest_block));
    if (header_.index_bits > 64 || header_.index_bits < smallest_bits)
      cursor.fail("an array of 2^" + std::to_string(header_.index_bits) + " elements");
    header_.groups = 1 + header_.index_bits - smallest_bits;
    header_.direct_groups = 2 * log2_of(cursor, pointers);
    if (header_.direct_groups > header_.groups) cursor.fail("more super blocks than elements need");
    cursor.skip(statistics * metadata_.length_bytes());
    header_.index_block = metadata_.address(cursor);
  }

  void read_index_block(std::uint64_t address) {
    std::uint64_t direct_blocks = 0;
    for (unsigned g = 0; g < header_.direct_groups; ++g)
      direct_blocks += group_of(header_, g).blocks;
    const std::uint64_t named = direct_blocks + header_.groups - header_.direct_groups;
    const auto block =
        metadata_.checked_block(address, prefix_bytes + metadata_.offset_bytes() +
                                             header_.index_elements * elements_.element_bytes() +
                                             named * metadata_.offset_bytes() + checksum_bytes);
    auto cursor = begin(block, "EAIB");
    auto own = hdf5_cursor{cursor.take(header_.index_elements * elements_.element_bytes()),
                           cursor.offset()};
    elements_.take(own, 0, header_.index_elements);

    std::uint64_t first = header_.index_elements;
    for (unsigned g = 0; g < header_.groups && first < elements_.needed(); ++g) {
      const auto group = group_of(header_, g);
      if (g < header_.direct_groups)
        read_direct_blocks(cursor, group, first);
      else if (const auto super_block = metadata_.address(cursor))
        read_super_block(*super_block, group, first);
      const auto passed = checked_multiply(group.blocks, group.block_elements);
      if (!passed || *passed >= elements_.needed() - first) return;
      first += *passed;
    }
  }

  void read_direct_blocks(hdf5_cursor& cursor, group group, std::uint64_t first) {
    if (is_paged(group)) cursor.fail("pages in a data block that no super block names");
    for (std::uint64_t b = 0; b < group.blocks; ++b, first += group.block_elements)
      if (const auto address = metadata_.address(cursor)) read_data_block(*address, group, first);
  }

  /// The bits for pages of its data blocks follow each other with no gap, in a room that has whole
  /// bytes for each data block.
  void read_super_block(std::uint64_t address, group group, std::uint64_t first) {
    const std::uint64_t pages = is_paged(group) ? group.block_elements / header_.page_elements : 0;
    const auto bitmap_bytes = checked_multiply(group.blocks, divide_up(pages, std::uint64_t{8}));
    const auto pointer_bytes =
        checked_multiply(group.blocks, std::uint64_t{metadata_.offset_bytes()});
    if (!bitmap_bytes || *bitmap_bytes > metadata_.file_bytes() || !pointer_bytes ||
        *pointer_bytes > metadata_.file_bytes())
      throw hdf5_metadata_error{metadata_.in_file(address), "a super block larger than the file"};
    const auto block = metadata_.checked_block(address, prefix_bytes + metadata_.offset_bytes() +
                                                            header_.index_bytes() + *bitmap_bytes +
                                                            *pointer_bytes + checksum_bytes);
    auto cursor = begin(block, "EASB");
    cursor.skip(header_.index_bytes());
    const hdf5_page_bits written{cursor.take(*bitmap_bytes)};
    announce_blocks(cursor, group);
    for (std::uint64_t b = 0; b < group.blocks && first < elements_.needed(); ++b) {
      if (const auto data = metadata_.address(cursor)) {
        if (pages == 0)
          read_data_block(*data, group, first);
        else
          read_pages(*data, pages, first, written, b * pages);
      }
      if (group.block_elements >= elements_.needed() - first) return;
      first += group.block_elements;
    }
  }

  void announce_blocks(hdf5_cursor cursor, group group) const {
    const auto bytes =
        checked_multiply(group.block_elements, std::uint64_t{elements_.element_bytes()});
    for (std::uint64_t b = 0; b < group.blocks; ++b)
      if (const auto data = metadata_.address(cursor))
        metadata_.will_need(*data, bytes.value_or(metadata_.file_bytes()));
  }

  void read_data_block(std::uint64_t address, group group, std::uint64_t first) {
    const auto own_bytes =
        checked_multiply(group.block_elements, std::uint64_t{elements_.element_bytes()});
    if (!own_bytes || *own_bytes > metadata_.file_bytes())
      throw hdf5_metadata_error{metadata_.in_file(address), "a data block larger than the file"};
    const auto block =
        metadata_.checked_block(address, front_bytes() + *own_bytes + checksum_bytes);
    auto cursor = begin(block, "EADB");
    cursor.skip(header_.index_bytes());
    elements_.take(cursor, first, group.block_elements);
  }

  /// A page begins where it would if all before it were there.
  /// @param first_bit Of the data block in its super block's bits.
  void read_pages(std::uint64_t address, std::uint64_t pages, std::uint64_t first,
                  const hdf5_page_bits& written, std::uint64_t first_bit) {
    const auto block = metadata_.checked_block(address, front_bytes() + checksum_bytes);
    (void)begin(block, "EADB");
    const std::uint64_t page_bytes =
        header_.page_elements * elements_.element_bytes() + checksum_bytes;
    for (std::uint64_t page = 0; page < pages && first < elements_.needed(); ++page) {
      if (written[first_bit + page]) {
        const auto before = checked_multiply(page, page_bytes);
        if (!before || *before > metadata_.file_bytes())
          throw hdf5_metadata_error{metadata_.in_file(address), "pages larger than the file"};
        const auto elements =
            metadata_.checked_block(address + front_bytes() + checksum_bytes + *before, page_bytes);
        auto cursor = elements.cursor();
        elements_.take(cursor, first, header_.page_elements);
      }
      if (header_.page_elements >= elements_.needed() - first) return;
      first += header_.page_elements;
    }
  }

  [[nodiscard]] bool is_paged(group group) const noexcept {
    return group.block_elements > header_.page_elements;
  }
  /// Of a data block.
  [[nodiscard]] std::uint64_t front_bytes() const noexcept {
    return prefix_bytes + metadata_.offset_bytes() + header_.index_bytes();
  }

  /// What each block of the array begins with.
  hdf5_cursor begin(const hdf5_block& block, std::string_view signature) const {
    auto cursor = block.cursor();
    cursor.require_signature(signature);
    cursor.require_version(0);
    if (cursor.u8() != header_.client) cursor.fail("a block of another kind than the header's");
    cursor.skip(metadata_.offset_bytes());  // the header's address
    return cursor;
  }

  hdf5_metadata& metadata_;
  hdf5_array_elements elements_;
  header header_ = {};
};

}  // namespace

void read_hdf5_extensible_array(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                                hdf5_chunk_map& map) {
  reader{metadata, layout, map}.read(*layout.index_address);
}

}  // namespace feedline::detail
