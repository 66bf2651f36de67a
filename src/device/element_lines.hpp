#pragma once

#include <feedline/dataset/element_type.hpp>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Reads `count` adjacent elements at any address: as floats, like static_cast, or, for integer
/// elements, as integers modulo 2^64. A boolean is 0 or 1.
/// @tparam Value float or std::uint64_t, here and below.
template <class Value>
using line_reader = void (*)(const std::byte* in, std::ptrdiff_t count, Value* out) noexcept;

template <class Value>
[[nodiscard]] line_reader<Value> line_reader_of(element_type from) noexcept;

/// Factor and summand of a line's floats; integers do not use it.
struct affine {
  float scale = 1.0F;
  float offset = 0.0F;
};

/// Writes `count` values, `in_step` apart, to elements `out_step` apart.
///
/// Floats become value × scale + offset, of type f32, f16 or bf16: one rounded product, one rounded
/// sum, rounded to nearest even into the element. Every NaN comes out as the one that NVIDIA
/// devices produce (0x7FFFFFFF, 0x7FFF): a CPU's can have any sign and payload. Integers are
/// truncated to an integer type's bits; a boolean is whether the integer is not 0.
template <class Value>
using line_writer = void (*)(const Value* in, std::ptrdiff_t in_step, std::byte* out,
                             std::ptrdiff_t out_step, std::ptrdiff_t count, affine by) noexcept;

/// The writer for values that were elements of type `from`.
template <class Value>
[[nodiscard]] line_writer<Value> line_writer_of(element_type from, element_type to) noexcept;
template <>
line_writer<float> line_writer_of(element_type from, element_type to) noexcept;
template <>
line_writer<std::uint64_t> line_writer_of(element_type from, element_type to) noexcept;

}  // namespace feedline::detail
