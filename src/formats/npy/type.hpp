#pragma once

#include <feedline/dataset/element_type.hpp>

#include <bit>
#include <string>
#include <string_view>
#include <variant>

namespace feedline::detail {

/// A type of NumPy's that has an element_type.
struct npy_type {
  element_type type = element_type::u8;
  std::endian order = std::endian::native;  ///< means nothing for elements of one byte
};

/// NumPy's word for a type ("<f4": byte order, kind, bytes), or why feedline has no such
/// element_type and what to do.
[[nodiscard]] std::variant<npy_type, std::string> parse_npy_type(std::string_view word);

}  // namespace feedline::detail
