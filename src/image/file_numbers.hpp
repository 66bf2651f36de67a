#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Whole numbers in the bytes of a file.
class file_numbers {
 public:
  file_numbers(std::span<const std::byte> bytes, bool is_little) noexcept
      : bytes_{bytes}, is_little_{is_little} {}

  [[nodiscard]] bool has(std::uint64_t offset, std::uint64_t size) const noexcept {
    return offset <= bytes_.size() && bytes_.size() - offset >= size;
  }
  /// @param size Up to 8 bytes. @return 0 if the file ends before the last of them.
  [[nodiscard]] std::uint64_t at(std::uint64_t offset, std::uint32_t size) const noexcept {
    if (!has(offset, size)) return 0;
    std::uint64_t number = 0;
    for (std::uint32_t i = 0; i < size; ++i)
      number = number << 8U |
               std::to_integer<std::uint64_t>(bytes_[offset + (is_little_ ? size - 1 - i : i)]);
    return number;
  }

 private:
  std::span<const std::byte> bytes_;
  bool is_little_;
};

}  // namespace feedline::detail
