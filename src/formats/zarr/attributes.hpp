#pragma once

#include <feedline/arrays/array_source.hpp>

#include "formats/zarr/array.hpp"
#include "formats/zarr/json/document.hpp"

#include <string>

namespace feedline::detail {

/// The attributes of an array by which its stored numbers are packed, as xarray reads them:
/// scale_factor, add_offset, missing_value, _FillValue and _Unsigned. Members that are no numbers
/// are ignored. Complex numbers, booleans and dates have none.
/// @param attributes Null: there are none.
/// @param fill_is_missing Whether the array's fill value stands for a missing value, as in version
/// 2, instead of the attribute _FillValue.
[[nodiscard]] value_packing packing_attributes(const zarr_json* attributes, const zarr_array& array,
                                               bool fill_is_missing);

/// The attribute `units`; empty if there is no such text.
[[nodiscard]] std::string units_attribute(const zarr_json* attributes);

}  // namespace feedline::detail
