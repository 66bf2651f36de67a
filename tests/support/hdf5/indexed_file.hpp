#pragma once

#include "hdf5/library/handle.hpp"
#include "support/hdf5/writer.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace feedline::test {

/// A chunked dataset of bytes whose chunks spell their numbers.
struct indexed_dataset {
  static constexpr hsize_t unlimited = H5S_UNLIMITED;

  std::string name;  ///< its special property
  extent_vector extents;
  extent_vector chunk;
  extent_vector max_extents = {};  ///< empty: as `extents`
  bool is_filtered =
      false;  ///< chunks are of various sizes and filter masks then; none can be decoded
  bool latest_format = true;
  bool allocates_early = false;
  unsigned options = 0;  ///< H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
  /// Tells which chunks are written.
  std::function<bool(std::uint64_t number)> writes = [](std::uint64_t) { return true; };

  [[nodiscard]] std::size_t chunk_bytes() const;
  /// How a chunk is stored: its bytes, and its filter mask.
  [[nodiscard]] std::vector<std::byte> stored(std::uint64_t number) const;
  [[nodiscard]] std::uint32_t filter_mask(std::uint64_t number) const;
};

/// The name of the dataset in the files below.
inline constexpr const char* indexed_name = "x";

/// Writes all chunks of a dataset, as they are to be stored, into a file that is being written.
/// @return The dataset, still open.
detail::hdf5_dataset_id write_indexed(hdf5_writer& writer, const indexed_dataset& dataset);

/// Writes a file of that dataset alone.
std::filesystem::path write_indexed_file(const std::filesystem::path& path,
                                         const indexed_dataset& dataset,
                                         hdf5_writer::file_options options = {});

/// One dataset for each way in which a file can index `chunks` chunks, in one and in three
/// dimensions, filtered and not.
[[nodiscard]] std::vector<indexed_dataset> datasets_of_every_index(std::uint64_t chunks);

}  // namespace feedline::test
