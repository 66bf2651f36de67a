#pragma once

#include <feedline/dataset/element_type.hpp>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Reads `count` elements that lie side by side, at any address: as floats, as static_cast does, or
/// as whole numbers modulo 2^64, of elements that are such. A boolean is 0 or 1.
/// @tparam Value float or std::uint64_t; of what follows as well.
template <class Value>
using line_reader = void (*)(const std::byte* in, std::ptrdiff_t count, Value* out) noexcept;

template <class Value>
[[nodiscard]] line_reader<Value> line_reader_of(element_type from) noexcept;

/// What a line's floats are multiplied by, then moved by; whole numbers are not.
struct affine {
  float scale = 1.0F;
  float offset = 0.0F;
};

/// Writes `count` values, `in_step` apart, to elements `out_step` apart.
///
/// Floats become value × scale + offset, of type f32, f16 or bf16: one rounded product, one rounded
/// sum, rounded to nearest even into the element. Every NaN comes out as the one that NVIDIA
/// devices give (0x7FFFFFFF, 0x7FFF): a CPU's can have any sign and payload. Whole numbers are cut
/// to an integer's bits; to a boolean, it is whether they are not 0.
template <class Value>
using line_writer = void (*)(const Value* in, std::ptrdiff_t in_step, std::byte* out,
                             std::ptrdiff_t out_step, std::ptrdiff_t count, affine by) noexcept;

/// For values that were elements of type `from`.
template <class Value>
[[nodiscard]] line_writer<Value> line_writer_of(element_type from, element_type to) noexcept;
template <>
line_writer<float> line_writer_of(element_type from, element_type to) noexcept;
template <>
line_writer<std::uint64_t> line_writer_of(element_type from, element_type to) noexcept;

}  // namespace feedline::detail
