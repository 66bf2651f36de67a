#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace feedline::detail {

/// A word with its bytes in reverse.
[[nodiscard]] constexpr std::uint16_t reversed(std::uint16_t word) noexcept {
  return __builtin_bswap16(word);
}
[[nodiscard]] constexpr std::uint32_t reversed(std::uint32_t word) noexcept {
  return __builtin_bswap32(word);
}
[[nodiscard]] constexpr std::uint64_t reversed(std::uint64_t word) noexcept {
  return __builtin_bswap64(word);
}

/// The number that at most 8 bytes are, the least one first.
[[nodiscard]] constexpr std::uint64_t little_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

/// The same, the least one last.
[[nodiscard]] constexpr std::uint64_t big_endian(std::span<const std::byte> bytes) noexcept {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

/// Copies elements of a word's size with the bytes of each in reverse. Neither side need be
/// aligned, and `to` may be `from`.
/// @param bytes A multiple of the word's size.
template <class Word>
void copy_reversed(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, from + at, sizeof word);
    word = reversed(word);
    std::memcpy(to + at, &word, sizeof word);
  }
}

/// Reverses the bytes of each element where it lies.
/// @param word_bytes 2, 4 or 8; elements of any other size are unchanged.
inline void reverse_elements(std::span<std::byte> elements, std::size_t word_bytes) noexcept {
  std::byte* const at = elements.data();
  if (word_bytes == 2) copy_reversed<std::uint16_t>(at, at, elements.size());
  if (word_bytes == 4) copy_reversed<std::uint32_t>(at, at, elements.size());
  if (word_bytes == 8) copy_reversed<std::uint64_t>(at, at, elements.size());
}

}  // namespace feedline::detail
