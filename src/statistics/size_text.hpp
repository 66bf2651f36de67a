#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace feedline::detail {

/// A number of bytes with one digit after the point: "147.5 GB".
[[nodiscard]] inline std::string size_text(std::uint64_t bytes) {
  constexpr double kilo = 1000;
  constexpr double nearly_kilo = 999.95;  // is rounded up
  if (bytes < 1000) return std::to_string(bytes) + " B";
  constexpr std::array<const char*, 6> units{"kB", "MB", "GB", "TB", "PB", "EB"};
  double size = static_cast<double>(bytes) / kilo;
  std::size_t unit = 0;
  for (; size >= nearly_kilo && unit + 1 < units.size(); ++unit) size /= kilo;
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.1f %s", size, units.at(unit));
  return text.data();
}

}  // namespace feedline::detail
