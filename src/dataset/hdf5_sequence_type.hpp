#pragma once

#include "dataset/hdf5_handle.hpp"
#include "dataset/hdf5_session.hpp"
#include "dataset/hdf5_type.hpp"

namespace feedline::detail {

/// How values of an HDF5 type of variable length appear as runs of elements.
struct hdf5_sequence_type {
  hdf5_element element;      ///< one element; its refusal says why none is known
  hdf5_type_id memory = {};  ///< what the library is to read values as: `hvl_t`, or `char*`
  bool is_string = false;
};

/// Whether values are sequences or strings of variable length, themselves: not parts of them.
[[nodiscard]] bool is_variable_length(const hdf5_session& hdf5, hid_t type);

/// @param type Of any kind.
[[nodiscard]] hdf5_sequence_type describe_sequence(const hdf5_session& hdf5, hid_t type);

}  // namespace feedline::detail
