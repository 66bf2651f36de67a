#include "hdf5/format/chunk_layout.hpp"

#include "detail/arithmetic.hpp"
#include "hdf5/format/object_header.hpp"

#include <limits>
#include <string>

namespace feedline::detail {
namespace {

constexpr unsigned max_dimensions = 32;
constexpr unsigned chunked_class = 2;

/// (HDF5 File Format Specification 3.0, IV.A.2.b)
void take_dataspace(const hdf5_metadata& metadata, hdf5_cursor cursor, hdf5_chunk_layout& layout) {
  constexpr unsigned has_max_extents = 0x01;
  const unsigned version = cursor.u8();
  if (version != 1 && version != 2) cursor.fail("dataspace version " + std::to_string(version));
  const unsigned rank = cursor.u8();
  if (rank == 0 || rank > max_dimensions)
    cursor.fail("a dataspace of " + std::to_string(rank) + " dimensions");
  const unsigned flags = cursor.u8();
  cursor.skip(version == 1 ? 5 : 1);

  const unsigned width = metadata.length_bytes();
  const std::uint64_t all_ones = ~std::uint64_t{0} >> (64 - 8 * width);
  for (unsigned d = 0; d < rank; ++d) layout.extents.push_back(cursor.number(width));
  layout.max_extents = layout.extents;
  if ((flags & has_max_extents) == 0) return;
  for (unsigned d = 0; d < rank; ++d) {
    const std::uint64_t most = cursor.number(width);
    layout.max_extents[d] = most == all_ones ? hdf5_chunk_layout::unlimited : most;
    if (most < layout.extents[d]) cursor.fail("a dimension longer than its maximum");
  }
}

/// @param stored Dimensions of a chunk; the last is the element's size.
void set_chunk_extents(const hdf5_cursor& cursor, std::vector<std::uint64_t> stored,
                       hdf5_chunk_layout& layout) {
  std::uint64_t bytes = 1;
  for (const std::uint64_t extent : stored) {
    const auto more = checked_multiply(bytes, extent);
    if (!more || *more == 0 || *more > std::numeric_limits<std::uint32_t>::max())
      cursor.fail("chunks of no bytes, or of 4 GiB or more");
    bytes = *more;
  }
  layout.chunk_bytes = static_cast<std::uint32_t>(bytes);
  stored.pop_back();
  layout.chunk_extents = std::move(stored);
}

unsigned stored_dimensions(hdf5_cursor& cursor) {
  const unsigned count = cursor.u8();
  if (count < 2 || count > max_dimensions + 1)
    cursor.fail("chunks of " + std::to_string(count) + " stored dimensions");
  return count;
}

/// (IV.A.2.i, version 3)
void take_version_3(const hdf5_metadata& metadata, hdf5_cursor& cursor, hdf5_chunk_layout& layout) {
  const unsigned count = stored_dimensions(cursor);
  layout.index = hdf5_index_kind::btree1;
  layout.index_address = metadata.address(cursor);
  std::vector<std::uint64_t> stored;
  for (unsigned d = 0; d < count; ++d) stored.push_back(cursor.u32());
  set_chunk_extents(cursor, std::move(stored), layout);
}

/// (IV.A.2.i, version 4) What it says of arrays and trees they say themselves, too.
void take_version_4(const hdf5_metadata& metadata, hdf5_cursor& cursor, hdf5_chunk_layout& layout) {
  constexpr unsigned filtered_single = 0x02;
  const unsigned flags = cursor.u8();
  const unsigned count = stored_dimensions(cursor);
  const unsigned width = cursor.u8();
  if (width == 0 || width > 8) cursor.fail("dimensions of " + std::to_string(width) + " bytes");
  std::vector<std::uint64_t> stored;
  for (unsigned d = 0; d < count; ++d) stored.push_back(cursor.number(width));
  set_chunk_extents(cursor, std::move(stored), layout);

  const unsigned index = cursor.u8();
  switch (static_cast<hdf5_index_kind>(index)) {
    case hdf5_index_kind::single:
      if ((flags & filtered_single) == 0) break;
      if (const auto bytes = cursor.number(metadata.length_bytes());
          bytes <= std::numeric_limits<std::uint32_t>::max())
        layout.single_bytes = static_cast<std::uint32_t>(bytes);
      else
        cursor.fail("a chunk of 4 GiB or more");
      layout.single_filter_mask = cursor.u32();
      break;
    case hdf5_index_kind::implicit:
      break;
    case hdf5_index_kind::fixed_array:
      cursor.skip(1);
      break;
    case hdf5_index_kind::extensible_array:
      cursor.skip(5);
      break;
    case hdf5_index_kind::btree2:
      cursor.skip(6);
      break;
    default:
      cursor.fail("chunk index type " + std::to_string(index));
  }
  layout.index = static_cast<hdf5_index_kind>(index);
  layout.index_address = metadata.address(cursor);
}

void take_layout(const hdf5_metadata& metadata, hdf5_cursor cursor, hdf5_chunk_layout& layout) {
  const unsigned version = cursor.u8();
  if (version != 3 && version != 4) cursor.fail("layout version " + std::to_string(version));
  if (cursor.u8() != chunked_class) cursor.fail("a dataset that is not chunked");
  version == 3 ? take_version_3(metadata, cursor, layout)
               : take_version_4(metadata, cursor, layout);
}

bool names_filters(hdf5_cursor cursor) {
  const unsigned version = cursor.u8();
  if (version != 1 && version != 2)
    cursor.fail("filter pipeline version " + std::to_string(version));
  return cursor.u8() != 0;
}

}  // namespace

hdf5_chunk_layout read_hdf5_chunk_layout(hdf5_metadata& metadata, std::uint64_t header) {
  require_no_cache_image(metadata);
  hdf5_chunk_layout layout;
  for (const auto& message : read_hdf5_messages(metadata, header)) {
    const auto cursor = message.cursor();
    if (message.is_shared) cursor.fail("a message kept outside of its object header");
    if (message.type == hdf5_message_type::dataspace && layout.extents.empty())
      take_dataspace(metadata, cursor, layout);
    if (message.type == hdf5_message_type::layout && layout.chunk_extents.empty())
      take_layout(metadata, cursor, layout);
    if (message.type == hdf5_message_type::filter_pipeline)
      layout.has_filters = names_filters(cursor);
  }
  if (layout.extents.empty() || layout.extents.size() != layout.chunk_extents.size())
    throw hdf5_metadata_error{metadata.in_file(header),
                              "an object header without a dataspace and a layout that fit"};
  return layout;
}

}  // namespace feedline::detail
