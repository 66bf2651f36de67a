#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Most dimensions of an array.
inline constexpr std::size_t max_rank = 32;

/// Elements that lie at equal distances along each dimension, and where each goes. Strides are in
/// bytes; 0 repeats an element.
struct strided_copy {
  std::span<const std::uint64_t> count;  ///< none is 0
  const std::byte* from;
  std::span<const std::ptrdiff_t> from_stride;
  std::byte* to;
  std::span<const std::ptrdiff_t> to_stride;
  std::size_t element_bytes;
  bool swaps = false;  ///< reverses the bytes of each element, of 2, 4 or 8 bytes
};

/// Copies the elements, in the order of the destination. Dimensions that are dense on both sides
/// are copied as one run.
void copy_box(const strided_copy& what) noexcept;

}  // namespace feedline::detail
