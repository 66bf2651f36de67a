#pragma once

#include <cstddef>
#include <vector>

namespace feedline::test {

/// Bytes that depend on their index, and do not repeat soon.
inline std::vector<std::byte> numbered(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>((i * 0x9e3779b97f4a7c15U) >> 56U);
  return bytes;
}

}  // namespace feedline::test
