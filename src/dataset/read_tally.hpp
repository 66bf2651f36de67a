#pragma once

#include <feedline/dataset/read_counts.hpp>

#include <atomic>
#include <cstdint>

namespace feedline::detail {

/// Adds up the counters of one reader's reads. No atomic read-modify-write is needed, because it
/// has one writer. Threads: `look` by any, the rest by the reader.
class read_tally {
 public:
  void add(const read_counts& more) noexcept {
    add_to(decoded_, more.decoded);
    add_to(cache_hits_, more.cache_hits);
    add_to(cache_misses_, more.cache_misses);
    add_to(pixels_, more.pixels);
    add_to(padded_pixels_, more.padded_pixels);
  }
  [[nodiscard]] read_counts look() const noexcept {
    return {decoded_.load(std::memory_order_relaxed), cache_hits_.load(std::memory_order_relaxed),
            cache_misses_.load(std::memory_order_relaxed), pixels_.load(std::memory_order_relaxed),
            padded_pixels_.load(std::memory_order_relaxed)};
  }

 private:
  static void add_to(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> decoded_{0};
  std::atomic<std::uint64_t> cache_hits_{0};
  std::atomic<std::uint64_t> cache_misses_{0};
  std::atomic<std::uint64_t> pixels_{0};
  std::atomic<std::uint64_t> padded_pixels_{0};
};

/// From construction to destruction, `count_read` on this thread adds to a tally. They nest: a
/// dataset may have a loader of its own.
class tallied_reads {
 public:
  explicit tallied_reads(read_tally& to) noexcept;
  tallied_reads(const tallied_reads&) = delete;
  tallied_reads& operator=(const tallied_reads&) = delete;
  ~tallied_reads();

 private:
  read_tally* before_;
};

}  // namespace feedline::detail
