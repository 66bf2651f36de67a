#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// How long answers of about the same size took lately, and when one lags. One thread.
class answer_times {
 public:
  using duration = std::chrono::nanoseconds;

  void add(std::uint64_t bytes, duration took) noexcept {
    sizes& of = all_[class_of(bytes)];
    ++of.counts[bucket_of(took)];
    if (++of.total < remembered) return;
    of.total = 0;
    for (std::uint32_t& each : of.counts) of.total += each /= 2;
  }

  /// Time after which an answer of this size lags: twice what 19 of 20 take at most. Nothing while
  /// few were measured.
  [[nodiscard]] std::optional<duration> lags_after(std::uint64_t bytes) const noexcept {
    const sizes& of = all_[class_of(bytes)];
    if (of.total < enough) return {};
    std::uint32_t seen = 0;
    std::size_t bucket = 0;
    for (; bucket + 1 < buckets; ++bucket)
      if ((seen += of.counts[bucket]) >= of.total - of.total / 20) break;
    return std::max<duration>(2 * end_of(bucket), least);
  }

 private:
  static constexpr std::size_t classes = 65;
  static constexpr std::size_t buckets = 128;  ///< four a doubling, from 1 us on
  static constexpr std::uint32_t remembered = 1024;
  static constexpr std::uint32_t enough = 40;
  static constexpr duration least = std::chrono::milliseconds{20};

  struct sizes {
    std::array<std::uint32_t, buckets> counts{};
    std::uint32_t total = 0;
  };

  static std::size_t class_of(std::uint64_t bytes) noexcept {
    return static_cast<std::size_t>(std::bit_width(bytes));
  }
  static std::size_t bucket_of(duration took) noexcept {
    const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count() / 1000, 4));
    const auto octave = static_cast<std::size_t>(std::bit_width(us)) - 3;
    return std::min(4 * octave + static_cast<std::size_t>(us >> octave) - 4, buckets - 1);
  }
  static duration end_of(std::size_t bucket) noexcept {
    return std::chrono::microseconds{(bucket % 4 + 5) << (bucket / 4)};
  }

  std::array<sizes, classes> all_{};
};

}  // namespace feedline::detail
