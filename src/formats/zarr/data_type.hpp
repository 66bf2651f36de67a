#pragma once

#include "formats/zarr/array.hpp"
#include "formats/zarr/json/document.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace feedline::detail {

/// A type and the order of its bytes in the file.
struct zarr_stored_type {
  zarr_type type = {};
  bool is_big_endian = false;
};

/// A type in NumPy's letters: "<f4", "|b1", ">i2", or TensorStore's "bfloat16".
/// @throws dataset_error if it is not a text, or a type that fields do not have; it says what to
/// do.
[[nodiscard]] zarr_stored_type parse_v2_type(const zarr_json& value, const zarr_members& array);

/// A type as version 3 names it: "float32", "numpy.datetime64". @throws dataset_error
[[nodiscard]] zarr_type parse_v3_type(const zarr_json& value, const zarr_members& array);

/// The value of a type that fills chunks which were never written: one element, as in memory.
/// @param value Null: 0. @param array Names the array in errors. @throws dataset_error
[[nodiscard]] std::vector<std::byte> parse_fill(const zarr_json& value, const zarr_type& type,
                                                const zarr_members& array);

}  // namespace feedline::detail
