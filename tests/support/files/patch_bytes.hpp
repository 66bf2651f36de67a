#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace feedline::test {

/// Replaces the last occurrence of some bytes by as many others; throws if there is none.
inline void replace_last(std::vector<std::byte>& bytes, std::string_view from,
                         std::string_view to) {
  const auto same = [](std::byte a, char b) { return a == static_cast<std::byte>(b); };
  const auto at = std::find_end(bytes.begin(), bytes.end(), from.begin(), from.end(), same);
  if (from.size() != to.size() || at == bytes.end())
    throw std::runtime_error{"bytes to be replaced are not there"};
  std::transform(to.begin(), to.end(), at, [](char c) { return static_cast<std::byte>(c); });
}

}  // namespace feedline::test
