#pragma once

#include <feedline/arrays/array_source.hpp>

#include <cstddef>
#include <vector>

namespace feedline::detail {

/// An array whose elements are all equal, such as one that was never written.
/// @param element Bytes of one element.
[[nodiscard]] array_ptr make_constant_array(array_spec spec, std::vector<std::byte> element);

}  // namespace feedline::detail
