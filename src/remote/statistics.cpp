#include <feedline/remote/statistics.hpp>

#include "remote/cache/cache_counts.hpp"
#include "remote/request/counts.hpp"

#include <array>
#include <atomic>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

remote_statistics remote_counts() noexcept {
  const detail::remote_counters& all = detail::counters();
  const detail::cache_counters& cache = detail::cache_counts();
  const auto now = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  return {.requests = now(all.requests),
          .bytes = now(all.bytes),
          .bytes_unused = now(all.bytes_unused),
          .most_in_flight = now(all.most_in_flight),
          .held_back = now(all.held_back),
          .throttled = now(all.throttled),
          .server_errors = now(all.server_errors),
          .unreachable = now(all.unreachable),
          .resets = now(all.resets),
          .stalls = now(all.stalls),
          .wrong_lengths = now(all.wrong_lengths),
          .ignored_ranges = now(all.ignored_ranges),
          .garbage = now(all.garbage),
          .wrong_checksums = now(all.wrong_checksums),
          .failed = now(all.failed),
          .retries = now(all.retries),
          .hedged = now(all.hedged),
          .hedges_won = now(all.hedges_won),
          .waits = now(all.waits),
          .wait_time = std::chrono::nanoseconds{now(all.wait_ns)},
          .cache = {.reads = now(cache.reads),
                    .memory_bytes = now(cache.memory_bytes),
                    .folder_bytes = now(cache.folder_bytes),
                    .stored = now(cache.stored),
                    .stored_bytes = now(cache.stored_bytes),
                    .evicted = now(cache.evicted),
                    .damaged = now(cache.damaged),
                    .not_written = now(cache.not_written),
                    .waits = now(cache.waits)}};
}

std::string to_string(const remote_statistics& counts) {
  std::string text = std::to_string(counts.requests) + " requests, " +
                     std::to_string(counts.bytes) + " bytes, at most " +
                     std::to_string(counts.most_in_flight) + " in flight";
  const std::array<std::pair<std::uint64_t, const char*>, 13> kinds{{
      {counts.held_back, "answers while max_in_flight or ulimit -n limits the rate"},
      {counts.retries, "made again"},
      {counts.hedged, "made twice because the first lagged"},
      {counts.throttled, "throttled"},
      {counts.server_errors, "server errors"},
      {counts.unreachable, "unreachable"},
      {counts.resets, "reset"},
      {counts.stalls, "stalled"},
      {counts.wrong_lengths, "of a wrong length"},
      {counts.ignored_ranges, "with ignored ranges"},
      {counts.garbage, "garbage"},
      {counts.wrong_checksums, "of a wrong checksum"},
      {counts.failed, "given up"},
  }};
  for (const auto& [count, words] : kinds)
    if (count != 0) text += ", " + std::to_string(count) + " " + words;
  if (counts.waits != 0)
    text += ", readers waited " + std::to_string(counts.waits) + " times for " +
            std::to_string(
                std::chrono::duration_cast<std::chrono::milliseconds>(counts.wait_time).count()) +
            " ms";
  if (counts.cache == remote_cache_statistics{}) return text;
  text += "; cache: " + std::to_string(counts.cache.reads) + " reads, " +
          std::to_string(counts.cache.memory_bytes) + " bytes from memory, " +
          std::to_string(counts.cache.folder_bytes) + " from the folder, " +
          std::to_string(counts.cache.stored) + " blocks kept";
  const std::array<std::pair<std::uint64_t, const char*>, 4> events{{
      {counts.cache.evicted, "evicted"},
      {counts.cache.damaged, "damaged"},
      {counts.cache.not_written, "not written"},
      {counts.cache.waits, "waits for others"},
  }};
  for (const auto& [count, words] : events)
    if (count != 0) text += ", " + std::to_string(count) + " " + words;
  return text;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
