#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// How many requests may be in flight. It grows as long as that brings more bytes a second: twofold
/// at first, later by some. When it brings none, the limit before is taken again, and kept for some
/// time. When a server refuses requests, it halves. One thread.
///
/// It does not look at latencies, because requests go to several servers, near and far ones.
class in_flight_limit {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr int least = 4;
  static constexpr int first = 16;

  explicit in_flight_limit(int most) { set_most(most); }

  void set_most(int most) noexcept {
    most_ = std::max(most, 1);
    limit_ = std::clamp(limit_, std::min(least, most_), most_);
  }
  [[nodiscard]] int now() const noexcept { return limit_; }

  /// An answer came whole. @param was_full All allowed requests were in flight; else more
  /// would not have been used.
  void answered(std::uint64_t bytes, time_point now, bool was_full) noexcept {
    bytes_ += bytes;
    full_ += was_full ? 1 : 0;
    if (++answers_ == limit_) {  // until now, answers to requests from before the round
      begun_ = now;
      bytes_ = 0;
      full_ = 0;
    }
    if (answers_ >= 2 * limit_) end_round(now);
  }

  /// The server refused a request because there are too many. At most once a round, because the
  /// requests of a round are refused together.
  void refused() noexcept {
    if (was_halved_) return;
    set_limit(limit_ / 2);
    is_growing_fast_ = false;
    best_ = {};
    waits_ = rounds_between_tries;
    was_halved_ = true;
  }

 private:
  static constexpr double useful_gain = 1.08;
  static constexpr int rounds_between_tries = 8;

  /// A number of requests, and the bytes a second that came with it.
  struct measured {
    int limit = 0;
    double rate = 0;
  };

  void end_round(time_point now) noexcept {
    const double seconds = std::max(std::chrono::duration<double>(now - begun_).count(), 1e-9);
    const measured round{limit_, static_cast<double>(bytes_) / seconds};
    const bool was_used = 2 * full_ >= limit_;
    was_halved_ = false;
    start_round();
    if (!was_used) return;  // nothing was learnt about more requests
    if (waits_ > 0) {
      best_ = round;
      if (--waits_ == 0) grow();
    } else if (round.rate > useful_gain * best_.rate) {
      best_ = round;
      grow();
    } else {
      is_growing_fast_ = false;
      waits_ = rounds_between_tries;
      set_limit(best_.limit);
    }
  }

  void grow() noexcept {
    set_limit(is_growing_fast_ ? 2 * limit_ : limit_ + std::max(4, limit_ / 4));
  }
  void set_limit(int limit) noexcept {
    limit_ = std::clamp(limit, std::min(least, most_), most_);
    start_round();
  }
  void start_round() noexcept {
    answers_ = 0;
    bytes_ = 0;
    full_ = 0;
  }

  int most_ = 1;
  int limit_ = first;
  bool is_growing_fast_ = true;
  bool was_halved_ = false;  ///< in this round
  int waits_ = 0;            ///< rounds until more are tried again
  measured best_ = {};

  // The round.
  int answers_ = 0;
  int full_ = 0;
  std::uint64_t bytes_ = 0;
  time_point begun_ = {};
};

}  // namespace feedline::detail
