#pragma once

#include <atomic>
#include <cstdint>

namespace feedline::detail {

/// The process's counters, as `remote_statistics::cache` names them. They need no construction.
struct cache_counters {
  std::atomic<std::uint64_t> reads{0}, memory_bytes{0}, folder_bytes{0}, stored{0}, stored_bytes{0},
      evicted{0}, damaged{0}, not_written{0}, waits{0};
};

[[nodiscard]] inline cache_counters& cache_counts() noexcept {
  constinit static cache_counters all;
  return all;
}

}  // namespace feedline::detail
