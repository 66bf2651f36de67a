#pragma once

#include <feedline/export.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Work of this process's cache so far (`remote_options::cache`).
struct remote_cache_statistics {
  std::uint64_t reads = 0;         ///< reads of blocks that were there
  std::uint64_t memory_bytes = 0;  ///< bytes that these read from memory
  std::uint64_t folder_bytes = 0;  ///< bytes that these read from the folder
  std::uint64_t stored = 0;        ///< blocks that were fetched and kept
  std::uint64_t stored_bytes = 0;  ///< bytes of these
  std::uint64_t evicted = 0;       ///< blocks that were removed for others
  std::uint64_t damaged = 0;       ///< blocks of the folder that were damaged, and removed
  std::uint64_t not_written = 0;   ///< blocks that could not be written: the disk is full or fails
  std::uint64_t waits = 0;         ///< reads that waited for another process, or another reader

  friend bool operator==(const remote_cache_statistics&, const remote_cache_statistics&) = default;
};

/// Requests of this process to other machines so far. A retry counts under the reason why the
/// request before it failed.
struct remote_statistics {
  std::uint64_t requests = 0;        ///< requests that were sent, each try counted
  std::uint64_t bytes = 0;           ///< bytes of objects that came
  std::uint64_t bytes_unused = 0;    ///< bytes fetched ahead and dropped unread
  std::uint64_t most_in_flight = 0;  ///< the most requests in flight at once
  /// Answers that came while more requests in flight would have raised the rate, but
  /// `remote_options::max_in_flight` or the limit of open files (`ulimit -n`) did not allow them.
  std::uint64_t held_back = 0;
  std::uint64_t throttled = 0;      ///< status 429 or 503
  std::uint64_t server_errors = 0;  ///< status 408, 500, 502 or 504
  std::uint64_t unreachable = 0;    ///< no address, no connection, no TLS
  std::uint64_t resets = 0;         ///< connections that broke before the answer's end
  std::uint64_t stalls =
      0;  ///< no byte for `remote_options::stall_after`, or too slow for `deadline`
  std::uint64_t wrong_lengths = 0;   ///< bodies that were shorter or longer than their headers say
  std::uint64_t ignored_ranges = 0;  ///< status 200 where a range was asked for
  std::uint64_t garbage = 0;         ///< answers that are no HTTP, or contradict the request
  /// Whole objects whose bytes do not have the checksum that the store tells.
  std::uint64_t wrong_checksums = 0;
  std::uint64_t failed = 0;              ///< requests that were given up: errors of their readers
  std::uint64_t retries = 0;             ///< requests that were made again
  std::uint64_t hedged = 0;              ///< second requests beside those that lagged
  std::uint64_t hedges_won = 0;          ///< second requests that were answered first
  std::uint64_t waits = 0;               ///< how often readers waited for bytes
  std::chrono::nanoseconds wait_time{};  ///< sum of these waits, over all readers
  remote_cache_statistics cache = {};
};

/// All zero before the first request. Any thread.
[[nodiscard]] remote_statistics remote_counts() noexcept;

/// One line, such as "84 requests, 1200000 bytes, at most 16 in flight, 2 throttled, 1 stalled".
[[nodiscard]] std::string to_string(const remote_statistics& counts);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
