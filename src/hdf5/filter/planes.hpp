#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Assembles elements from planes: the first plane has all elements' first bytes, the second all
/// second ones, …
/// @param count Number of elements. @param size Bytes of an element, not 0. @param out Must not
///              overlap the planes.
void join_byte_planes(const std::byte* planes, std::size_t count, std::size_t size,
                      std::byte* out) noexcept;

/// Assembles elements from planes of bits: the first plane has all elements' bit 0, eight elements
/// to a byte, the first in its lowest bit; the second has all elements' bit 1; … Bit 0 is the
/// lowest bit of an element's first byte.
/// @param count Number of elements, a multiple of 8. @param size Bytes of an element, not 0.
/// @param between Memory of the elements' size, which is overwritten; if `size` is 1, it may be
/// empty.
/// @param out Memory of the elements' size; overlaps neither.
void join_bit_planes(const std::byte* planes, std::size_t count, std::size_t size,
                     std::span<std::byte> between, std::byte* out) noexcept;

}  // namespace feedline::detail
