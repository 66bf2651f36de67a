#pragma once

#include <string_view>

namespace feedline::test {

/// Whether a text has another one in it: as matchers say it differs between versions of Catch2.
[[nodiscard]] inline bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

}  // namespace feedline::test
