#pragma once

#include <spdlog/fmt/fmt.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace programs {

/// "784 bytes", "1.5 KiB", "47.1 MiB".
[[nodiscard]] inline std::string bytes_text(std::uint64_t count) {
  auto bytes = static_cast<double>(count);
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{:.0f} byte{}", bytes, bytes == 1 ? "" : "s");
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.1f} {}", bytes, units[unit]);
}

/// "12 MB/s", "1.25 GB/s".
[[nodiscard]] inline std::string rate_text(double bytes_per_second) {
  if (bytes_per_second < 1e9) return fmt::format("{:.1f} MB/s", bytes_per_second / 1e6);
  return fmt::format("{:.2f} GB/s", bytes_per_second / 1e9);
}

/// "812 ns", "3.1 us", "12.0 ms", "1.50 s".
[[nodiscard]] inline std::string time_text(std::chrono::duration<double> time) {
  const double count = time.count();
  if (count < 1e-6) return fmt::format("{:.0f} ns", count * 1e9);
  if (count < 1e-3) return fmt::format("{:.1f} us", count * 1e6);
  if (count < 1) return fmt::format("{:.1f} ms", count * 1e3);
  return fmt::format("{:.2f} s", count);
}

/// "1 reader", "2 readers".
template <class Count>
[[nodiscard]] std::string counted(Count count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

[[nodiscard]] inline std::string percent_text(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

}  // namespace programs
