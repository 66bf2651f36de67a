#pragma once

#include <feedline/index.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// The request that a reader is filling.
struct read_under_way {
  std::uint64_t epoch = 0;
  position first = {};                               ///< first position of the run being read
  position end = {};                                 ///< end of the request
  std::chrono::steady_clock::time_point since = {};  ///< start of the request
};

/// Publishes what one reader is reading, for other threads to see. Costs a few stores a request and
/// one store a run.
///
/// A sequence lock: its number is odd while a request is being written. The reader's stores release
/// and the others' loads acquire, so a thread that sees a new value also sees the odd number before
/// it. Threads: `look` by any, the rest by the reader.
class alignas(64) read_record {
 public:
  /// @param now Time at which the reader began the request.
  void begin(std::uint64_t epoch, position first, position end,
             std::chrono::steady_clock::time_point now) noexcept {
    const std::uint64_t before = sequence_.load(std::memory_order_relaxed);
    sequence_.store(before + 1, std::memory_order_relaxed);
    epoch_.store(epoch, std::memory_order_release);
    first_.store(first.value, std::memory_order_release);
    since_.store(now, std::memory_order_release);
    end_.store(end.value, std::memory_order_release);
    sequence_.store(before + 2, std::memory_order_release);
  }
  /// Begins another run of the request.
  void at(position first) noexcept { first_.store(first.value, std::memory_order_release); }
  void end() noexcept { end_.store(0, std::memory_order_release); }

  /// Nothing if it reads nothing, or changes requests during the call.
  [[nodiscard]] std::optional<read_under_way> look() const noexcept {
    const std::uint64_t before = sequence_.load(std::memory_order_acquire);
    const read_under_way seen{.epoch = epoch_.load(std::memory_order_acquire),
                              .first = position{first_.load(std::memory_order_acquire)},
                              .end = position{end_.load(std::memory_order_acquire)},
                              .since = since_.load(std::memory_order_acquire)};
    const bool whole = before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before;
    if (!whole || seen.end.value == 0) return std::nullopt;
    return seen;
  }

 private:
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> end_{0};  ///< 0: no request
  std::atomic<std::chrono::steady_clock::time_point> since_{};
};

}  // namespace feedline::detail
