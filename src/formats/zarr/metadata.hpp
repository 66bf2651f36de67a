#pragma once

#include "formats/zarr/array.hpp"
#include "formats/zarr/json/document.hpp"

#include <string>

namespace feedline::detail {

/// Reads an array's metadata of version 2: `.zarray`, and its attributes.
/// @param attributes Null, or the content of `.zattrs`.
/// @param path The array's path in the store. @param where Names the document in errors.
/// @throws dataset_error: members that are missing, of the wrong kind or without meaning, types and
/// codecs that feedline does not know, chunks of 4 GiB and more.
[[nodiscard]] zarr_array parse_v2_array(const zarr_json& document, const zarr_json* attributes,
                                        std::string path, const file_field& where);

/// The same for version 3: the `zarr.json` of an array.
[[nodiscard]] zarr_array parse_v3_array(const zarr_json& document, std::string path,
                                        const file_field& where);

/// Sets the size of the numbers whose bytes are to be reversed, and checks sizes that follow from
/// shape, chunk and type. @throws dataset_error
void finish_array(zarr_array& array, bool is_big_endian, const zarr_members& from);

/// The names that attributes of version 2 give the dimensions, as xarray writes them; empty if they
/// give none for each.
[[nodiscard]] std::vector<std::string> dimension_names(const zarr_json* list, std::size_t rank);

}  // namespace feedline::detail
