#include "dataset/byte_order.hpp"

#include <cstdint>
#include <cstring>

namespace feedline::detail {
namespace {

std::uint16_t reversed(std::uint16_t word) noexcept {
  return __builtin_bswap16(word);
}
std::uint32_t reversed(std::uint32_t word) noexcept {
  return __builtin_bswap32(word);
}
std::uint64_t reversed(std::uint64_t word) noexcept {
  return __builtin_bswap64(word);
}

template <class Word>
void reverse_words(std::span<std::byte> elements) noexcept {
  for (std::size_t at = 0; at < elements.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, elements.data() + at, sizeof word);
    word = reversed(word);
    std::memcpy(elements.data() + at, &word, sizeof word);
  }
}

}  // namespace

void reverse_elements(std::span<std::byte> elements, std::size_t element_bytes) noexcept {
  if (element_bytes == 2) reverse_words<std::uint16_t>(elements);
  if (element_bytes == 4) reverse_words<std::uint32_t>(elements);
  if (element_bytes == 8) reverse_words<std::uint64_t>(elements);
}

}  // namespace feedline::detail
