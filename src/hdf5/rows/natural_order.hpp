#pragma once

#include <cstddef>
#include <string_view>

namespace feedline::detail {

/// Whether one name comes before another if runs of digits count as numbers: "demo_2" before
/// "demo_10". All other characters are compared as bytes. Names that differ only by leading zeros
/// are compared as bytes, so that the order is total.
[[nodiscard]] inline bool is_naturally_before(std::string_view one,
                                              std::string_view other) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto take_number = [&](std::string_view& rest) {
    std::size_t end = 0;
    while (end < rest.size() && is_digit(rest[end])) ++end;
    std::string_view digits = rest.substr(0, end);
    rest.remove_prefix(end);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    return digits;
  };
  std::string_view a = one;
  std::string_view b = other;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view left = take_number(a);
      const std::string_view right = take_number(b);
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else if (a.front() != b.front()) {
      return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return one < other;
}

}  // namespace feedline::detail
