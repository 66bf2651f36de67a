#pragma once

#include <cstddef>
#include <span>

namespace feedline::detail {

/// Puts elements together from planes: first all elements' first bytes, then all second ones, …
/// @param count Elements. @param size Bytes of one, not 0. @param out May not overlap the planes.
void join_byte_planes(const std::byte* planes, std::size_t count, std::size_t size,
                      std::byte* out) noexcept;

/// Puts elements together from planes of bits: first all elements' bit 0, eight elements to a byte,
/// the first in its lowest bit; then all elements' bit 1; … Bits are counted from that of value 1
/// in an element's first byte.
/// @param count Elements, a multiple of 8. @param size Bytes of one, not 0.
/// @param between As many bytes as the elements have, which are overwritten; where `size` is 1:
/// any.
/// @param out As many bytes; overlaps neither.
void join_bit_planes(const std::byte* planes, std::size_t count, std::size_t size,
                     std::span<std::byte> between, std::byte* out) noexcept;

}  // namespace feedline::detail
