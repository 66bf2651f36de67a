#pragma once

#include <feedline/arrays/array_source.hpp>

#include "io/byte_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Where an array's elements lie in a file.
struct file_array_place {
  std::uint64_t offset = 0;                  ///< offset of the first element
  std::vector<std::ptrdiff_t> strides = {};  ///< in bytes, one for each dimension, none negative
  bool is_swapped = false;                   ///< not in the machine's byte order
};

/// An array whose elements lie at equal distances along each dimension of a file, in any order of
/// the dimensions. Boxes are copied from the mapped file, or read by calls: elements that are near
/// each other by one, through as much memory as they span.
/// @throws dataset_error if not all elements are within the file. Reads end with a check that the
/// file is unchanged.
[[nodiscard]] array_ptr make_file_array(array_spec spec, byte_file_ptr file,
                                        file_array_place place);

}  // namespace feedline::detail
