#pragma once

#include "hdf5/format/cursor.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace feedline::detail {

/// Which pages of an array were ever written: a bit each, the highest of a byte first. Borrows
/// them.
class hdf5_page_bits {
 public:
  explicit hdf5_page_bits(std::span<const std::byte> bits) noexcept : bits_{bits} {}

  [[nodiscard]] bool operator[](std::uint64_t page) const noexcept {
    const std::uint64_t byte = page / 8;
    if (byte >= bits_.size()) return false;
    return (bits_[static_cast<std::size_t>(byte)] & (std::byte{0x80} >> (page % 8))) !=
           std::byte{0};
  }

 private:
  std::span<const std::byte> bits_;
};

/// How many elements a page has, from its logarithm.
[[nodiscard]] inline std::uint64_t hdf5_page_elements(const hdf5_cursor& header, unsigned bits) {
  constexpr unsigned max_bits = 31;  // pages of so many elements would be larger than most files
  if (bits > max_bits) header.fail("pages of 2^" + std::to_string(bits) + " elements");
  return std::uint64_t{1} << bits;
}

}  // namespace feedline::detail
