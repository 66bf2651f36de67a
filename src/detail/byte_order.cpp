#include "detail/byte_order.hpp"

namespace feedline::detail {
namespace {

template <class Word>
void reverse_words(std::span<std::byte> elements) noexcept {
  copy_reversed<Word>(elements.data(), elements.data(), elements.size());
}

}  // namespace

void reverse_elements(std::span<std::byte> elements, std::size_t element_bytes) noexcept {
  if (element_bytes == 2) reverse_words<std::uint16_t>(elements);
  if (element_bytes == 4) reverse_words<std::uint32_t>(elements);
  if (element_bytes == 8) reverse_words<std::uint64_t>(elements);
}

}  // namespace feedline::detail
