#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace feedline::detail {

/// Names with those that occur twice made empty: none of them says which one is meant.
[[nodiscard]] inline std::vector<std::string> without_namesakes(std::vector<std::string> names) {
  const auto given = names;
  for (std::string& each : names)
    if (std::ranges::count(given, each) > 1) each.clear();
  return names;
}

}  // namespace feedline::detail
