#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace feedline::detail {

/// An element with its bytes in reverse.
[[nodiscard]] constexpr std::uint16_t swapped(std::uint16_t value) noexcept {
  return __builtin_bswap16(value);
}
[[nodiscard]] constexpr std::uint32_t swapped(std::uint32_t value) noexcept {
  return __builtin_bswap32(value);
}
[[nodiscard]] constexpr std::uint64_t swapped(std::uint64_t value) noexcept {
  return __builtin_bswap64(value);
}

/// Copies elements with the bytes of each in reverse; neither side need be aligned, and `to` may be
/// `from`.
/// @param bytes A multiple of the element's size.
template <class Element>
void copy_swapped(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, from + at, sizeof element);
    element = swapped(element);
    std::memcpy(to + at, &element, sizeof element);
  }
}

/// Reverses the bytes of each element where it lies.
/// @param element_bytes 2, 4 or 8; 1 changes nothing.
inline void swap_elements(std::span<std::byte> bytes, std::size_t element_bytes) noexcept {
  if (element_bytes == 2) copy_swapped<std::uint16_t>(bytes.data(), bytes.data(), bytes.size());
  if (element_bytes == 4) copy_swapped<std::uint32_t>(bytes.data(), bytes.data(), bytes.size());
  if (element_bytes == 8) copy_swapped<std::uint64_t>(bytes.data(), bytes.data(), bytes.size());
}

}  // namespace feedline::detail
