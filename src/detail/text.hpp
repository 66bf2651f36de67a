#pragma once

#include "detail/printable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// With ASCII's capital letters made small, whatever the locale.
[[nodiscard]] inline std::string in_lower_case(std::string_view text) {
  std::string lower{text};
  for (char& letter : lower)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return lower;
}

/// The shortest decimal that reads back as the value: "0.1", "1e+300", "inf", "nan".
[[nodiscard]] inline std::string text_of(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

[[nodiscard]] inline std::string text_of(std::uint64_t value) {
  return std::to_string(value);
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

/// The value as 16 hexadecimal digits.
[[nodiscard]] inline std::string to_hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  const std::string text{digits.data(), end};
  return std::string(digits.size() - text.size(), '0') + text;
}

/// Names for a message, printable: "a, b, c", of many the first ten and how many more.
[[nodiscard]] inline std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t max_named = 10;
  if (names.empty()) return "none";
  std::string text;
  const std::size_t shown = std::min(names.size(), max_named);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

}  // namespace feedline::detail
