#pragma once

#include "hdf5/format/chunk_layout.hpp"
#include "hdf5/format/chunk_map.hpp"
#include "hdf5/format/metadata.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::detail {

/// Reads one chunk's place as indexes keep it: its address and, where `size_bytes` is not 0, its size of
/// so many bytes and its filter mask. @param unfiltered_bytes The chunk's size else.
[[nodiscard]] hdf5_chunk read_hdf5_chunk_place(const hdf5_metadata& metadata, hdf5_cursor& cursor,
                                               unsigned size_bytes, std::uint32_t unfiltered_bytes);

/// Where the elements of an index that is an array belong in a map. Elements stand in row-major order
/// over the grid of chunks that a dataset of its *maximum* extents would have, its unlimited
/// dimension, if there is one, first.
class hdf5_array_elements {
 public:
  /// @throws hdf5_metadata_error if elements cannot be counted, or several dimensions are unlimited.
  hdf5_array_elements(const hdf5_metadata& metadata, const hdf5_chunk_layout& layout,
                      hdf5_chunk_map& map);

  /// So many elements, from the first, hold all chunks of the map.
  [[nodiscard]] std::uint64_t needed() const noexcept { return needed_; }

  /// Which chunk of the map an element is about, if any.
  [[nodiscard]] std::optional<std::uint64_t> chunk_of(std::uint64_t element) const noexcept;
  /// Which element is about a chunk of the map; less than `needed`.
  [[nodiscard]] std::uint64_t element_of(std::uint64_t number) const noexcept;

  /// An element's size and whether it tells a chunk's size and mask, as an array's header has them.
  /// @throws hdf5_metadata_error if they contradict each other.
  void set_format(const hdf5_cursor& header, unsigned client, unsigned element_bytes);
  [[nodiscard]] unsigned element_bytes() const noexcept { return element_bytes_; }

  /// Takes consecutive elements, of which the cursor may hold more than are needed.
  void take(hdf5_cursor& cursor, std::uint64_t first, std::uint64_t count);

 private:
  const hdf5_metadata& metadata_;
  const hdf5_chunk_layout& layout_;
  hdf5_chunk_map& map_;
  std::vector<std::size_t> order_ = {};          ///< dimensions, the slowest first
  std::vector<std::uint64_t> strides_ = {};      ///< in elements, of the dimensions in that order
  std::vector<std::uint64_t> map_strides_ = {};  ///< in chunks of the map, likewise
  bool is_map_order_ = false;                    ///< element and chunk have the same number
  std::uint64_t needed_ = 0;
  unsigned element_bytes_ = 0;
  unsigned size_bytes_ = 0;
};

}  // namespace feedline::detail
