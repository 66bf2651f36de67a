#pragma once

#include <unistd.h>

#include <cstdint>
#include <limits>

namespace feedline::detail {

/// Bytes of memory that the machine has; the largest number where the system does not tell.
[[nodiscard]] inline std::uint64_t machine_memory_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || bytes <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes);
}

}  // namespace feedline::detail
