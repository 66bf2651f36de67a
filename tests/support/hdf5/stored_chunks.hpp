#pragma once

#include "hdf5/filter/filters.hpp"
#include "hdf5/library/handle.hpp"
#include "support/hdf5/encoders.hpp"
#include "support/hdf5/writer.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedline::test {

/// A chunk as stored in its file.
struct stored_chunk {
  extent_vector offset;  ///< position of its first element
  std::uint32_t mask;
  bytes stored;
};

/// A chunked dataset of a file, read with no filter undone.
struct stored_dataset {
  extent_vector extents;
  extent_vector chunk;
  std::size_t element;
  std::vector<detail::hdf5_filter> pipeline;
  std::vector<stored_chunk> chunks;
};

/// @param dataset A chunked one. Throws if the library cannot read it.
[[nodiscard]] stored_dataset read_stored(hid_t dataset);

/// The dataset's elements, from its chunks decoded by feedline; zeros where no chunk was written.
[[nodiscard]] bytes decode_all(const stored_dataset& dataset);

/// The names of all chunked datasets of a file that have filters.
[[nodiscard]] std::vector<std::string> filtered_datasets(hid_t file);

}  // namespace feedline::test
