#pragma once

#include "support/files/idx_bytes.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::test {

/// A NumPy file with this text as its dictionary, padded as NumPy does. @param version 1, 2 or 3.
[[nodiscard]] byte_vector npy_bytes(std::string_view dictionary, std::span<const std::byte> payload,
                                    unsigned version = 1);

/// The dictionary that NumPy writes: `npy_dictionary("<f4", "(3, 2)")`.
[[nodiscard]] std::string npy_dictionary(std::string_view descr, std::string_view shape,
                                         bool fortran_order = false);

/// Values as they lie in this machine's memory.
template <class T>
[[nodiscard]] byte_vector memory_of(const std::vector<T>& values) {
  byte_vector bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Elements of `element_bytes` each with their bytes in reverse.
[[nodiscard]] byte_vector with_elements_reversed(byte_vector bytes, std::size_t element_bytes);

/// `count` bytes that count up from 0, modulo 251.
[[nodiscard]] byte_vector counting_bytes(std::size_t count);

}  // namespace feedline::test
