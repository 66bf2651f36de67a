#include "hdf5/format/array_elements.hpp"
#include "hdf5/format/chunk_index.hpp"

#include <optional>
#include <string>

namespace feedline::detail {
namespace {

/// A walk over a tree's nodes. Depth is bounded by the level that each node states, one less than its
/// parent's.
class walk {
 public:
  walk(hdf5_metadata& metadata, const hdf5_chunk_layout& layout, hdf5_chunk_map& map)
      : metadata_{metadata}, layout_{layout}, map_{map} {}

  void visit(std::uint64_t address, std::optional<unsigned> expected_level) {
    constexpr unsigned chunk_nodes = 1;
    const unsigned address_bytes = metadata_.offset_bytes();
    const unsigned front_bytes = 8 + 2 * address_bytes;
    const auto front = metadata_.block(address, front_bytes);
    auto header = front.cursor();
    header.require_signature("TREE");
    if (header.u8() != chunk_nodes) header.fail("a tree of groups where chunks should be");
    const unsigned level = header.u8();
    if (expected_level && level != *expected_level)
      header.fail("a node of level " + std::to_string(level) + " below one of " +
                  std::to_string(*expected_level + 1));
    const std::uint64_t entries = header.u16();

    // Keys and children alternate, and end with a key, which is of no use here.
    const std::uint64_t entry_bytes = 8 + 8 * (layout_.rank() + 1) + address_bytes;
    const auto body = metadata_.block(address + front_bytes, entries * entry_bytes);
    auto cursor = body.cursor();
    if (level > 0) announce_children(cursor, entries, front_bytes + body.bytes().size());
    for (std::uint64_t i = 0; i < entries; ++i)
      level == 0 ? take_chunk(cursor) : descend(cursor, level);
  }

 private:
  /// Nodes of a tree lie about as they became, among the chunks.
  /// @param bytes Of a node as full as this one.
  void announce_children(hdf5_cursor cursor, std::uint64_t entries, std::uint64_t bytes) const {
    for (std::uint64_t i = 0; i < entries; ++i) {
      cursor.skip(8 + 8 * (layout_.rank() + 1));
      if (const auto child = metadata_.address(cursor)) metadata_.will_need(*child, bytes);
    }
  }

  void descend(hdf5_cursor& cursor, unsigned level) {
    cursor.skip(8 + 8 * (layout_.rank() + 1));
    const auto child = metadata_.address(cursor);
    if (!child) cursor.fail("a child that is nowhere");
    visit(*child, level - 1);
  }

  /// A key tells the chunk's first element, with 8 bytes a coordinate in any file, and in bytes
  /// where within an element: 0.
  void take_chunk(hdf5_cursor& cursor) {
    const std::uint32_t bytes = cursor.u32();
    const std::uint32_t filter_mask = cursor.u32();
    const auto grid = map_.grid();
    std::uint64_t number = 0;
    bool is_inside = true;
    for (std::size_t d = 0; d < layout_.rank(); ++d) {
      const std::uint64_t first = cursor.u64();
      const std::uint64_t place = first / layout_.chunk_extents[d];
      if (place * layout_.chunk_extents[d] != first)
        cursor.fail("a chunk that begins within another");
      is_inside = is_inside && place < grid[d];
      number = number * grid[d] + place;
    }
    cursor.skip(8);
    const auto address = metadata_.address(cursor);
    // A dataset that shrank, and was cut short then, may keep chunks beyond its extents.
    if (!address || !is_inside) return;
    if (!layout_.has_filters && bytes != layout_.chunk_bytes)
      cursor.fail("an unfiltered chunk of " + std::to_string(bytes) + " bytes");
    map_[number] = {
        .address = metadata_.in_file(*address), .bytes = bytes, .filter_mask = filter_mask};
  }

  hdf5_metadata& metadata_;
  const hdf5_chunk_layout& layout_;
  hdf5_chunk_map& map_;
};

}  // namespace

void read_hdf5_btree1(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                      hdf5_chunk_map& map) {
  walk{metadata, layout, map}.visit(*layout.index_address, std::nullopt);
}

}  // namespace feedline::detail
