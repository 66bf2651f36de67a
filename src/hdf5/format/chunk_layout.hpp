#pragma once

#include "hdf5/format/metadata.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::detail {

/// How a dataset's chunks are found. The numbers are the file's, but for the first.
enum class hdf5_index_kind : std::uint8_t {
  btree1 = 0,  ///< version 1 B-tree: all files of the older format
  single = 1,
  implicit = 2,
  fixed_array = 3,
  extensible_array = 4,  ///< one unlimited dimension
  btree2 = 5,            ///< several
};

/// What an object header says of a chunked dataset.
struct hdf5_chunk_layout {
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

  std::vector<std::uint64_t> extents = {};
  std::vector<std::uint64_t> max_extents = {};  ///< may be `unlimited`
  std::vector<std::uint64_t> chunk_extents = {};
  std::uint32_t chunk_bytes = 0;  ///< of a whole one, decoded
  bool has_filters = false;
  hdf5_index_kind index = hdf5_index_kind::btree1;
  std::optional<std::uint64_t> index_address = {};  ///< nothing: no chunk was ever written
  // A filtered single chunk is described here; all other indexes describe their chunks themselves.
  std::optional<std::uint32_t> single_bytes = {};
  std::uint32_t single_filter_mask = 0;

  [[nodiscard]] std::size_t rank() const noexcept { return extents.size(); }
};

/// Reads a dataset's layout: message version 3 or 4, chunks of less than 4 GiB.
/// @param header Address of its object header.
/// @throws hdf5_metadata_error if it is damaged, of another version, not chunked, or its messages are
///         kept outside of the header.
[[nodiscard]] hdf5_chunk_layout read_hdf5_chunk_layout(hdf5_metadata& metadata,
                                                       std::uint64_t header);

}  // namespace feedline::detail
