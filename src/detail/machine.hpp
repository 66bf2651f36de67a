#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>

namespace feedline::detail {

/// Cores that the calling thread, and threads that it starts, may keep busy: of those there are, as
/// many as its affinity mask allows and its control groups' quota pays for. At least 1.
[[nodiscard]] unsigned usable_cores() noexcept;

/// Whole cores that the CPU quota of this process's control groups (versions 1 and 2) pays for, at
/// least 1. Nothing where there is no quota.
/// @param root Where `proc` and `sys` are: "/".
[[nodiscard]] std::optional<unsigned> quota_cores(const std::filesystem::path& root);

/// Bytes of memory that the machine has; the largest number where the system does not tell.
[[nodiscard]] inline std::uint64_t machine_memory_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

}  // namespace feedline::detail
