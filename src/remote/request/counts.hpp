#pragma once

#include "remote/answer/judge_answer.hpp"

#include <atomic>
#include <cstdint>

namespace feedline::detail {

/// The process's counters, as `remote_statistics` names them. They need no construction.
struct remote_counters {
  std::atomic<std::uint64_t> requests{0}, bytes{0}, bytes_unused{0}, most_in_flight{0},
      held_back{0}, throttled{0}, server_errors{0}, unreachable{0}, resets{0}, stalls{0},
      wrong_lengths{0}, ignored_ranges{0}, garbage{0}, wrong_checksums{0}, failed{0}, retries{0},
      hedged{0}, hedges_won{0}, waits{0}, wait_ns{0};

  /// Counts a try that failed. Faults without a retry are counted as `failed` alone.
  void count(remote_fault fault) noexcept;
};

[[nodiscard]] remote_counters& counters() noexcept;

}  // namespace feedline::detail
