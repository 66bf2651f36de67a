#pragma once

#include <feedline/dataset/element_type.hpp>

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Whether the codecs below know a type: integers, f32 and f64.
[[nodiscard]] bool is_counted(element_type type) noexcept;

/// Undoes numcodecs' delta: each element is the sum of those before it, in the decoded type.
/// @param to, stored Types of decoded and stored elements, both little-endian.
/// @return Bytes that came out.
/// @throws hdf5_filter_error if the bytes are not whole elements, or more than there is room for.
std::size_t undo_delta(element_type to, element_type stored, std::span<const std::byte> bytes,
                       std::span<std::byte> out);

/// Undoes numcodecs' fixedscaleoffset: element / scale + offset, computed as NumPy 2 does: in f64,
/// or in f32 if stored elements are f32. @param to f32 or f64.
std::size_t undo_fixed_scale_offset(element_type to, element_type stored, double scale,
                                    double offset, std::span<const std::byte> bytes,
                                    std::span<std::byte> out);

}  // namespace feedline::detail
