#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace feedline::detail {

/// Names for a message: "a, b, c", of many the first ten and how many more.
[[nodiscard]] inline std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t max_named = 10;
  if (names.empty()) return "none";
  std::string text;
  const std::size_t shown = std::min(names.size(), max_named);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) text += " and " + std::to_string(names.size() - shown) + " more";
  return text;
}

}  // namespace feedline::detail
