#pragma once

#include "hdf5/format/chunk_map.hpp"
#include "hdf5/library/handle.hpp"
#include "io/local/file.hpp"
#include "support/hdf5/indexed_file.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace feedline::test {

/// Opens a file and maps its dataset `indexed_name`.
detail::hdf5_chunk_map map_indexed(const std::filesystem::path& path,
                                   detail::file_access access = detail::file_access::automatic);

/// The fault of the map of a file that was written so, if there is one. The file's own bytes tell:
/// each chunk spells its number.
std::optional<std::string> fault_of(const detail::hdf5_chunk_map& map,
                                    const indexed_dataset& dataset,
                                    const std::filesystem::path& path);

/// The fault of a map, if there is one: compares each chunk's bytes in the file with those that the
/// library reads by its own driver, and filter masks.
std::optional<std::string> difference_from_library(hid_t dataset, const detail::local_file& file,
                                                   const detail::hdf5_chunk_map& map);

}  // namespace feedline::test
