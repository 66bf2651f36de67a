#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace feedline::detail {

/// With ASCII's capital letters made small, whatever the locale.
[[nodiscard]] inline std::string in_lower_case(std::string_view text) {
  std::string lower{text};
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

/// "89 50 4e".
[[nodiscard]] inline std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += ' ';
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace feedline::detail
