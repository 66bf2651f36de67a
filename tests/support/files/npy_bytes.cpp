#include "support/files/npy_bytes.hpp"

#include <algorithm>

namespace feedline::test {

byte_vector npy_bytes(std::string_view dictionary, std::span<const std::byte> payload,
                      unsigned version) {
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t preamble_bytes = 8 + length_bytes;
  std::string text{dictionary};
  text.append((64 - (preamble_bytes + text.size() + 1) % 64) % 64, ' ');
  text += '\n';

  byte_vector bytes = bytes_of({0x93, 'N', 'U', 'M', 'P', 'Y', version, 0});
  for (std::size_t i = 0; i < length_bytes; ++i)
    bytes.push_back(static_cast<std::byte>(text.size() >> (8 * i)));
  return joined(joined(std::move(bytes), std::as_bytes(std::span{text})), payload);
}

std::string npy_dictionary(std::string_view descr, std::string_view shape, bool fortran_order) {
  return "{'descr': '" + std::string{descr} +
         "', 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + std::string{shape} + ", }";
}

byte_vector with_elements_reversed(byte_vector bytes, std::size_t element_bytes) {
  for (std::size_t at = 0; at + element_bytes <= bytes.size(); at += element_bytes) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    std::reverse(first, first + static_cast<std::ptrdiff_t>(element_bytes));
  }
  return bytes;
}

byte_vector counting_bytes(std::size_t count) {
  byte_vector bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

}  // namespace feedline::test
