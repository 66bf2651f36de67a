#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace feedline::detail {

/// Percent-encoded as signatures want it: all but letters, digits and "-._~", and '/' if it is
/// kept.
[[nodiscard]] inline std::string encoded(std::string_view text, bool keep_slashes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view unreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string result;
  for (const char c : text) {
    if (unreserved.find(c) != std::string_view::npos || (keep_slashes && c == '/')) {
      result += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    result.append(1, '%').append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
  }
  return result;
}

/// Value of a hexadecimal digit; -1 for another character.
[[nodiscard]] inline int value_of_digit(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// The opposite of `encoded`. '%' without two digits stays.
[[nodiscard]] inline std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code = text[i] == '%' && i + 2 < text.size() &&
                         value_of_digit(text[i + 1]) >= 0 && value_of_digit(text[i + 2]) >= 0;
    if (is_code) {
      result += static_cast<char>(value_of_digit(text[i + 1]) * 16 + value_of_digit(text[i + 2]));
      i += 2;
    } else {
      result += text[i] == '+' ? ' ' : text[i];
    }
  }
  return result;
}

}  // namespace feedline::detail
