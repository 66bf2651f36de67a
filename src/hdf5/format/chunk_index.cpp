#include "hdf5/format/chunk_index.hpp"

#include "hdf5/format/array_elements.hpp"

#include <algorithm>
#include <limits>

namespace feedline::detail {
namespace {

void read_single(const hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                 hdf5_chunk_map& map) {
  if (map.size() != 1) throw hdf5_metadata_error{"one chunk for a dataset of several"};
  map[0] = {.address = metadata.in_file(*layout.index_address),
            .bytes = layout.single_bytes.value_or(layout.chunk_bytes),
            .filter_mask = layout.single_filter_mask};
}

/// Chunks that lie side by side, in an array's order. (HDF5 File Format Specification 3.0, VII.B)
void read_implicit(const hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                   hdf5_chunk_map& map) {
  if (layout.has_filters) throw hdf5_metadata_error{"an implicit index of filtered chunks"};
  const std::uint64_t begin = metadata.in_file(*layout.index_address);
  const hdf5_array_elements elements{metadata, layout, map};
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - begin;
  if (elements.needed() > room / layout.chunk_bytes)
    throw hdf5_metadata_error{begin, "chunks that reach beyond all files"};
  for (std::uint64_t number = 0; number < map.size(); ++number)
    map[number] = {.address = begin + elements.element_of(number) * layout.chunk_bytes,
                   .bytes = layout.chunk_bytes};
}

}  // namespace

void read_hdf5_chunk_index(hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                           hdf5_chunk_map& map) {
  if (!std::ranges::equal(layout.extents, map.extents()) ||
      !std::ranges::equal(layout.chunk_extents, map.chunk_extents()))
    throw hdf5_metadata_error{"the dataset has other extents than it is said to have"};
  if (!layout.index_address) return;
  switch (layout.index) {
    case hdf5_index_kind::btree1:
      return read_hdf5_btree1(metadata, layout, map);
    case hdf5_index_kind::single:
      return read_single(metadata, layout, map);
    case hdf5_index_kind::implicit:
      return read_implicit(metadata, layout, map);
    case hdf5_index_kind::fixed_array:
      return read_hdf5_fixed_array(metadata, layout, map);
    case hdf5_index_kind::extensible_array:
      return read_hdf5_extensible_array(metadata, layout, map);
    case hdf5_index_kind::btree2:
      return read_hdf5_btree2(metadata, layout, map);
  }
}

}  // namespace feedline::detail
