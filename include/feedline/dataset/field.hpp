#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A named component of a sample.
///
///     field{"image", element_type::u8, {28, 28}}   // 784 bytes a sample
///     field{"label", element_type::u8, {}}         // a scalar: 1 byte a sample
struct field {
  std::string name;
  element_type type = element_type::u8;
  /// Shape of one sample, without the batch dimension; empty: a scalar.
  std::vector<std::uint64_t> shape = {};

  friend bool operator==(const field&, const field&) = default;
};

/// Size of one sample's value: product of the shape times the element's size.
/// @throws usage_error if the product does not fit in 64 bits, or is 0.
[[nodiscard]] std::size_t sample_bytes(const field& field);

/// "image: uint8[28, 28]".
[[nodiscard]] std::string to_string(const field& field);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
