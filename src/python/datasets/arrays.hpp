#pragma once

#include <feedline/dataset/field.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nanobind/nanobind.h>

namespace feedline::python {

namespace nb = nanobind;

/// An array of NumPy's, dense and row-major, and its bytes. To be used with the interpreter's lock.
struct dense_array {
  nb::object held;
  element_type type = element_type::u8;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;
};

/// numpy.asarray forgets masks, so this comes before it.
/// @throws usage_error if an array has masked elements, or is in a list or tuple.
void refuse_masked(nb::handle value);

/// The result of numpy.asarray for a value, copied only if it is not dense.
/// @throws usage_error if its elements have no element_type, or are masked; errors of numpy.
[[nodiscard]] dense_array as_dense(nb::handle value);

/// bfloat16 as a type of NumPy's, which the package ml_dtypes has.
/// @throws usage_error if it is not installed.
[[nodiscard]] nb::object bfloat16_of_numpy();

/// A new NumPy array to be filled. @throws the error of numpy for a type that it does not know.
[[nodiscard]] nb::object make_array(element_type type, const std::vector<std::uint64_t>& shape);
/// The bytes of an array that `make_array` made.
[[nodiscard]] std::span<std::byte> bytes_of(nb::handle array);

/// Converts a value by numpy.asarray to a dense array of a type: to integers from integers, to
/// floats from any numbers. @throws the error of numpy if the values are not such numbers.
[[nodiscard]] dense_array as_dense(nb::handle values, element_type type);

template <element Number>
[[nodiscard]] std::vector<Number> numbers(nb::handle values) {
  const dense_array dense = as_dense(values, element_type_of<Number>());
  const auto* const first = reinterpret_cast<const Number*>(dense.bytes.data());
  return {first, first + dense.bytes.size() / sizeof(Number)};
}

}  // namespace feedline::python
