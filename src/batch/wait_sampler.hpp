#pragma once

#include <feedline/detail/splitmix64.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// The interval in which one wait is measured. A short wait, which costs more to measure than it
/// lasts, doubles it, up to 16 times; a longer one halves it again. A loop whose batches are there
/// in time has short waits at each slot, because its host runs ahead of its stream.
class measuring_interval {
 public:
  using duration = std::chrono::nanoseconds;
  static constexpr std::chrono::microseconds short_wait{20};

  explicit measuring_interval(duration least) noexcept : least_{least}, now_{least} {}

  [[nodiscard]] duration now() const noexcept { return now_; }
  /// A wait was measured.
  void add(duration wait) noexcept {
    now_ = wait < short_wait ? std::min(2 * now_, 16 * least_) : std::max(now_ / 2, least_);
  }

 private:
  duration least_;
  duration now_;
};

/// Chooses which waits are measured, where measuring all would cost too much. Waits are taken in
/// blocks of about an interval's length; one of each block is measured and stands for all of it.
///
/// The measured wait of a block is sampled uniformly, and the block's length is fixed before. So
/// the estimate is unbiased, whatever the pattern of long and short waits. Measuring the first wait
/// after each interval would be biased: where long and short waits alternate, it is always of the
/// same kind.
class wait_sampler {
 public:
  using clock = std::chrono::steady_clock;

  /// @param interval 0: every wait is measured.
  explicit wait_sampler(clock::duration interval) noexcept : interval_{interval} {}

  /// A wait begins; returns whether to measure it.
  [[nodiscard]] bool begin(clock::time_point now) noexcept {
    if (place_ == length_) begin_block(now);
    return place_++ == chosen_;
  }
  /// Sets the interval for the blocks from the next one on.
  void set_interval(clock::duration interval) noexcept { interval_ = interval; }
  /// Whether the block's measured wait came before the one begun last.
  [[nodiscard]] bool has_measured() const noexcept { return place_ > chosen_ + 1; }

 private:
  /// The block has as many waits as an interval had lately; at most twice as many as the last
  /// block, so that a few quick waits do not make a long block of slow ones.
  void begin_block(clock::time_point now) noexcept {
    const auto took = static_cast<double>(std::max<clock::rep>((now - began_).count(), 1));
    const auto waits = static_cast<double>(length_);
    const double wanted = waits * static_cast<double>(interval_.count()) / took;
    length_ = static_cast<std::uint64_t>(std::clamp(wanted, 1.0, std::max(2 * waits, 1.0)));
    chosen_ = mix(++blocks_ * golden_gamma) % length_;
    place_ = 0;
    began_ = now;
  }

  clock::duration interval_;
  std::uint64_t length_ = 0;   ///< waits in the current block
  std::uint64_t chosen_ = 0;   ///< index in it of the one that is measured
  std::uint64_t place_ = 0;    ///< number of its waits that have begun
  std::uint64_t blocks_ = 0;   ///< blocks so far
  clock::time_point began_{};  ///< begin of the current block
};

}  // namespace feedline::detail
