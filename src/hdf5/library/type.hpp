#pragma once

#include <feedline/dataset/element_type.hpp>

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// How values of an HDF5 type appear as a field's elements.
struct hdf5_element {
  element_type type = element_type::u8;
  std::vector<std::uint64_t> shape = {};  ///< shape of an array type; empty otherwise
  hdf5_type_id memory = {};       ///< type in memory: the same values in the machine's byte order
  std::string refusal = {};       ///< why no element type can represent it; empty if one can
  std::size_t swapped_bytes = 1;  ///< size of numbers in the other byte order; 1: they are not
  std::size_t left_swapped_bytes = 1;  ///< the same for numbers that the library returns
  bool is_reference = false;           ///< references to objects
  std::string indirect =
      {};  ///< how stored values differ from the elements by more than byte order
  std::size_t record_bytes = 0;   ///< stored size of the records that it is in; 0: it is no member
  std::size_t record_offset = 0;  ///< offset of the member in such a record
};

/// Decides by the type's own description (class, size, bit fields), never by comparison with the
/// library's native types: for HDF5 1.10 the native type of a half is float.
[[nodiscard]] hdf5_element describe_type(const hdf5_session& hdf5, hid_t type);

/// Describes an array type whose elements are described, or refused.
[[nodiscard]] hdf5_element describe_array_of(hdf5_element each, hid_t array);

}  // namespace feedline::detail
