#pragma once

#include <feedline/dataset/element_type.hpp>

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Reads `count` elements that lie side by side, at any address, as floats: as static_cast does, a
/// boolean as 0 or 1.
using line_reader = void (*)(const std::byte* in, std::ptrdiff_t count, float* out) noexcept;

[[nodiscard]] line_reader line_reader_of(element_type from) noexcept;

/// What a line's elements are multiplied by, then moved by.
struct affine {
  float scale = 1.0F;
  float offset = 0.0F;
};

/// Writes value × scale + offset of `count` floats, `in_step` apart, to elements `out_step` apart: one
/// rounded product, one rounded sum, rounded to nearest even into the element. Every NaN comes out as
/// the one that NVIDIA devices give (0x7FFFFFFF, 0x7FFF): a CPU's can have any sign and payload.
using line_writer = void (*)(const float* in, std::ptrdiff_t in_step, std::byte* out,
                             std::ptrdiff_t out_step, std::ptrdiff_t count, affine by) noexcept;

/// For values that were elements of type `from`, to f32, f16 or bf16.
[[nodiscard]] line_writer line_writer_of(element_type from, element_type to) noexcept;

/// Reads likewise elements that are whole numbers, modulo 2^64; a boolean as 0 or 1.
using whole_reader = void (*)(const std::byte* in, std::ptrdiff_t count,
                              std::uint64_t* out) noexcept;

[[nodiscard]] whole_reader whole_reader_of(element_type from) noexcept;

/// Writes numbers as above, cut to an integer's bits; to a boolean, whether they are not 0.
using whole_writer = void (*)(const std::uint64_t* in, std::ptrdiff_t in_step, std::byte* out,
                              std::ptrdiff_t out_step, std::ptrdiff_t count, affine none) noexcept;

[[nodiscard]] whole_writer whole_writer_of(element_type to) noexcept;

}  // namespace feedline::detail
