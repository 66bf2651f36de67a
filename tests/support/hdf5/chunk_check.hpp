#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/rows/map_chunks.hpp"
#include "io/random_file.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace feedline::test {

/// A dataset's map, and why the library was asked for all of it, if it was.
struct mapped_dataset {
  detail::hdf5_chunk_map map;
  std::string why_asked;
};

/// Opens a file and maps its dataset `indexed_name`.
mapped_dataset map_indexed(
    const std::filesystem::path& path,
    detail::random_file::access access = detail::random_file::access::automatic,
    const detail::hdf5_index_parser& parse = detail::parse_hdf5_index);

/// What is wrong with the map of a file that was written so, or nothing. The file's own bytes tell: each
/// chunk spells its number.
std::optional<std::string> fault_of(const detail::hdf5_chunk_map& map,
                                    const indexed_dataset& dataset,
                                    const std::filesystem::path& path);

/// What is wrong with a map, asking the library for each chunk of an open dataset; or nothing.
std::optional<std::string> difference_from_lookup(const detail::hdf5_session& hdf5, hid_t dataset,
                                                  const detail::random_file& file,
                                                  const detail::hdf5_chunk_map& map);

}  // namespace feedline::test
