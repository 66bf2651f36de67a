#pragma once

#include <feedline/arrays/array_source.hpp>
#include <feedline/dataset/element_type.hpp>
#include <feedline/dataset/field.hpp>

#include "formats/zarr/codecs.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// Type of an array's elements.
struct zarr_type {
  element_type type = element_type::u8;
  bool is_complex = false;  ///< each element is a pair of `type`: real and imaginary part
  bool is_date = false;     ///< a date or a duration, counted in units of its own

  [[nodiscard]] std::size_t bytes() const noexcept {
    return size_bytes(type) * (is_complex ? 2 : 1);
  }
};

/// How the keys of an array's chunks are made from their coordinates.
struct zarr_chunk_keys {
  char separator = '/';
  bool has_prefix = true;  ///< "c/0/1" instead of "0/1"
};

/// Chunks within a shard: where the index is, and how it is stored.
struct zarr_shards {
  std::vector<std::uint64_t> shape = {};  ///< extents of a shard, multiples of a chunk's
  bool index_at_end = true;
  bool index_big_endian = false;
  bool index_has_crc32c = true;
};

/// An array as its metadata describe it, checked.
struct zarr_array {
  std::string path = {};                  ///< within the store, without "/" at either end
  std::vector<std::uint64_t> shape = {};  ///< at least one extent; the first is the samples'
  std::vector<std::uint64_t> chunk =
      {};  ///< the same number of extents, all at least 1; under 4 GiB
  std::optional<zarr_shards> shards = {};
  zarr_type type = {};
  std::size_t swapped_bytes = 1;        ///< size of the numbers whose bytes are to be reversed
  std::vector<std::byte> fill = {};     ///< one element, in the form that it has in memory
  std::vector<std::size_t> order = {};  ///< stored axis i is axis order[i]; empty: as it is
  zarr_codecs codecs{{}};
  zarr_chunk_keys keys = {};
  std::vector<std::string> dimension_names = {};  ///< empty: none; a name may be empty
  value_packing packing = {};                     ///< from its attributes
  std::string units = {};                         ///< the same; empty: it has none

  [[nodiscard]] std::size_t chunk_bytes() const noexcept;
  /// The field that it becomes. @param name Name of the field.
  [[nodiscard]] field to_field(std::string name) const;
};

}  // namespace feedline::detail
