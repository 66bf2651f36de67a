#include "detail/arithmetic.hpp"
#include "hdf5/format/array_elements.hpp"
#include "hdf5/format/chunk_index.hpp"

#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {
namespace {

constexpr unsigned checksum_bytes = 4;
constexpr unsigned prefix_bytes = 4 + 1 + 1;  // signature, version, record type
constexpr unsigned unfiltered_records = 10;
constexpr unsigned filtered_records = 11;
constexpr unsigned mask_bytes = 4;

/// So many bytes hold any number up to `most`.
unsigned width_of(std::uint64_t most) {
  return most == 0 ? 1 : static_cast<unsigned>(std::bit_width(most) - 1) / 8 + 1;
}

/// What nodes of one level may hold; leaves are of level 0.
struct level {
  std::uint64_t max_records = 0;        ///< in a node
  std::uint64_t max_records_below = 0;  ///< in a node and all below it
  unsigned total_width = 0;  ///< of the number of records below a node, in its parent's pointer
};

class walk {
 public:
  walk(hdf5_metadata& metadata, const hdf5_chunk_layout& layout, hdf5_chunk_map& map)
      : metadata_{metadata}, layout_{layout}, map_{map} {}

  void run(std::uint64_t header) {
    const auto block =
        metadata_.checked_block(header, prefix_bytes + 4 + 2 + 2 + 2 + metadata_.offset_bytes() +
                                            2 + metadata_.length_bytes() + checksum_bytes);
    auto cursor = block.cursor();
    cursor.require_signature("BTHD");
    cursor.require_version(0);
    type_ = cursor.u8();
    node_bytes_ = cursor.u32();
    set_record_format(cursor, cursor.u16());
    const unsigned depth = cursor.u16();
    cursor.skip(2);  // when nodes split and merge
    set_levels(cursor, depth);
    const auto root = metadata_.address(cursor);
    const std::uint64_t root_records = cursor.u16();
    const std::uint64_t total = cursor.number(metadata_.length_bytes());
    if (!root) return;
    visit(*root, root_records, depth);
    if (records_ != total)
      cursor.fail("a tree of " + std::to_string(records_) + " chunks that claims " +
                  std::to_string(total));
  }

 private:
  void set_record_format(const hdf5_cursor& header, unsigned record_bytes) {
    record_bytes_ = record_bytes;
    const std::uint64_t bare = metadata_.offset_bytes() + 8 * layout_.rank();
    const std::uint64_t filtered = bare + mask_bytes;
    if (type_ == filtered_records && record_bytes > filtered && record_bytes <= filtered + 8)
      size_bytes_ = static_cast<unsigned>(record_bytes - filtered);
    else if (type_ != unfiltered_records || record_bytes != bare)
      header.fail("records of type " + std::to_string(type_) + " and " +
                  std::to_string(record_bytes) + " bytes");
    if ((size_bytes_ > 0) != layout_.has_filters)
      header.fail("an index of filtered chunks for a dataset without filters, or the reverse");
  }

  /// The widths of numbers in nodes follow from how many records each level could have.
  void set_levels(const hdf5_cursor& header, unsigned depth) {
    constexpr unsigned overhead = prefix_bytes + checksum_bytes;
    if (node_bytes_ < overhead + record_bytes_) header.fail("nodes too small for a record");
    level leaf{.max_records = (node_bytes_ - overhead) / record_bytes_};
    leaf.max_records_below = leaf.max_records;
    levels_.push_back(leaf);
    count_width_ = width_of(leaf.max_records);
    while (levels_.size() <= depth) {
      const level& below = levels_.back();
      const std::uint64_t pointer = pointer_bytes(below);
      if (node_bytes_ < overhead + pointer + record_bytes_ + pointer)
        header.fail("nodes too small for two children");
      level next{.max_records = (node_bytes_ - overhead - pointer) / (record_bytes_ + pointer)};
      const auto product = checked_multiply(next.max_records + 1, below.max_records_below);
      if (!product || *product > std::numeric_limits<std::uint64_t>::max() - next.max_records)
        header.fail("a tree of more records than can be counted");
      next.max_records_below = *product + next.max_records;
      next.total_width = width_of(next.max_records_below);
      levels_.push_back(next);
    }
  }

  /// To a node of a level.
  [[nodiscard]] std::uint64_t pointer_bytes(const level& to) const noexcept {
    return metadata_.offset_bytes() + count_width_ + to.total_width;
  }

  void visit(std::uint64_t address, std::uint64_t records, unsigned depth) {
    if (records > levels_[depth].max_records)
      throw hdf5_metadata_error{metadata_.in_file(address), "more records than a node can hold"};
    const std::uint64_t pointers =
        depth == 0 ? 0 : (records + 1) * pointer_bytes(levels_[depth - 1]);
    const auto block = metadata_.checked_block(
        address, prefix_bytes + records * record_bytes_ + pointers + checksum_bytes);
    auto cursor = block.cursor();
    cursor.require_signature(depth == 0 ? "BTLF" : "BTIN");
    cursor.require_version(0);
    if (cursor.u8() != type_) cursor.fail("a node of another type than the tree's");
    for (std::uint64_t r = 0; r < records; ++r) take_record(cursor);
    records_ += records;
    if (depth == 0) return;
    announce_children(cursor, records + 1, depth);
    for (std::uint64_t c = 0; c <= records; ++c) {
      const auto child = metadata_.address(cursor);
      const std::uint64_t child_records = cursor.number(count_width_);
      cursor.skip(levels_[depth - 1].total_width);
      if (!child) cursor.fail("a child that is nowhere");
      visit(*child, child_records, depth - 1);
    }
  }

  void announce_children(hdf5_cursor cursor, std::uint64_t children, unsigned depth) const {
    for (std::uint64_t c = 0; c < children; ++c) {
      if (const auto child = metadata_.address(cursor)) metadata_.will_need(*child, node_bytes_);
      cursor.skip(count_width_ + levels_[depth - 1].total_width);
    }
  }

  /// Tells which chunk it is about in chunks, not in elements.
  void take_record(hdf5_cursor& cursor) {
    const auto place = read_hdf5_chunk_place(metadata_, cursor, size_bytes_, layout_.chunk_bytes);
    const auto grid = map_.grid();
    std::uint64_t number = 0;
    bool is_inside = true;
    for (std::size_t d = 0; d < grid.size(); ++d) {
      const std::uint64_t at = cursor.u64();
      is_inside = is_inside && at < grid[d];
      number = number * grid[d] + at;
    }
    if (is_inside) map_[number] = place;
  }

  hdf5_metadata& metadata_;
  const hdf5_chunk_layout& layout_;
  hdf5_chunk_map& map_;
  unsigned type_ = 0;
  std::uint64_t node_bytes_ = 0;
  unsigned record_bytes_ = 0;
  unsigned size_bytes_ = 0;   ///< of a chunk's size in a record; 0: none
  unsigned count_width_ = 0;  ///< of the number of records of a node, in its parent's pointer
  std::vector<level> levels_ = {};
  std::uint64_t records_ = 0;
};

}  // namespace

void read_hdf5_btree2(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                      hdf5_chunk_map& map) {
  walk{metadata, layout, map}.run(*layout.index_address);
}

}  // namespace feedline::detail
