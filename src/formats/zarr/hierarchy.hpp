#pragma once

#include "formats/zarr/array.hpp"
#include "formats/zarr/stores/store.hpp"

#include <optional>
#include <string>
#include <vector>

namespace feedline::detail {

/// An array that was found in a store.
struct zarr_node {
  std::string path = {};                 ///< within the store; empty: the store is an array
  std::optional<zarr_array> array = {};  ///< nothing: it is refused or left out
  std::string refusal = {};              ///< why it cannot be read; or empty
  std::string left_out = {};             ///< why it cannot be a field; or empty
};

/// The name of an array's field if no other is wanted: the last part of the array's path, or the
/// name of the store without ".zarr" and ".zip".
[[nodiscard]] std::string default_zarr_name(std::string store, const std::string& path);

/// Whether a store has metadata of a root: an array or a group.
[[nodiscard]] bool is_zarr(const zarr_store& store);

/// All arrays of a store, sorted by their paths: as consolidated metadata list them, else as they
/// are found in the store's groups.
/// @throws dataset_error if the root's metadata cannot be read, groups are nested too deep, or
/// nothing lists the arrays.
[[nodiscard]] std::vector<zarr_node> find_zarr_arrays(const zarr_store& store);

/// A path within a store as keys have it: without "/" at either end.
[[nodiscard]] std::string without_slashes(std::string path);

/// One array. @param given Path within the store.
/// @throws dataset_error if it is not there, or cannot be read.
[[nodiscard]] zarr_array load_zarr_array(const zarr_store& store, const std::string& given);

}  // namespace feedline::detail
