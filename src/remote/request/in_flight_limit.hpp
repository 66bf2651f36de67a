#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace feedline::detail {

/// How many requests may be in flight: twice the product of the rate of answers and the time that
/// an answer takes at best. While too few are in flight, that is more than there are, so the number
/// doubles; once a server or a link is full, the rate stays, and so does the number. When a server
/// refuses requests, the number halves, and then grows by some a round. One thread.
///
/// This is BBR's window (Cardwell et al., 2016): the greatest rate of some rounds, times the least
/// time. The least time is kept for each server, as requests go to near and far ones.
class in_flight_limit {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  using seconds = std::chrono::duration<double>;
  static constexpr int least = 4;
  static constexpr int usual = 16;  ///< at least, while no server refuses any
  /// Until the first round is measured, so many requests of so many bytes: a far server's first
  /// batch comes in one round trip, and a slow link is not filled with what is needed late.
  static constexpr int first = 512;
  static constexpr std::uint64_t first_bytes = std::uint64_t{64} << 20;
  /// Bytes of a server that answers sooner need not be fetched ahead: its requests are as cheap.
  static constexpr seconds near{2e-3};

  /// An answer that came whole.
  struct answer {
    std::string_view server;
    seconds latency{};  ///< from the request to the first byte
    seconds body{};     ///< from the first byte to the last
    std::uint64_t bytes = 0;
    bool was_full = false;  ///< all allowed requests were in flight; else more were not wanted
  };

  explicit in_flight_limit(int most) { set_most(most); }

  void set_most(int most) noexcept {
    most_ = std::max(most, 1);
    set_limit(limit_);
  }
  [[nodiscard]] int now() const noexcept { return limit_; }
  /// Whether `first_bytes` do not count any more.
  [[nodiscard]] bool is_measured() const noexcept { return is_measured_; }
  /// Whether a server has refused requests lately.
  [[nodiscard]] bool is_refused() const noexcept { return ceiling_ < most_; }
  /// Whether more than are allowed at most would bring a higher rate: in the last round all were in
  /// flight, and the server answered as soon as it ever did.
  [[nodiscard]] bool is_held_back() const noexcept { return is_held_back_; }
  /// Bytes that readers should ask for ahead: twice those that may be in flight, so that some have
  /// come while others are on their way. 0 if the servers are near.
  [[nodiscard]] std::uint64_t wanted_ahead() const noexcept {
    return 2 * static_cast<std::uint64_t>(limit_) * far_bytes_;
  }

  void answered(const answer& it, time_point now) {
    best_times_ += best_of(it);
    full_ += it.was_full ? 1 : 0;
    bytes_ += it.bytes;
    ++answers_;
    // The first rounds are as short as can be: one begins with the first answers, and the next one
    // ends once those come that were asked for then.
    const bool is_over =
        is_measured_ ? answers_ >= limit_
                     : answers_ >= std::min(usual, limit_) && now - begun_ >= latencies_ / answers_;
    if (is_over) end_round(now);
  }

  /// The server refused a request because there are too many. At most once a round, because the
  /// requests of a round are refused together.
  void refused() noexcept {
    if (was_halved_) return;
    was_halved_ = true;
    ceiling_ = std::max(limit_ / 2, least);
    set_limit(ceiling_);
  }

 private:
  static constexpr std::uint64_t measured_body = std::uint64_t{64} << 10;

  struct best {
    seconds latency{1e9};
    seconds per_byte{1e9};
  };

  /// The time of an answer with nothing in its way.
  [[nodiscard]] seconds best_of(const answer& it) {
    auto found = servers_.find(it.server);
    if (found == servers_.end()) found = servers_.emplace(std::string{it.server}, best{}).first;
    best& server = found->second;
    server.latency = std::min(server.latency, it.latency);
    latencies_ += server.latency;
    if (it.bytes < measured_body) return server.latency;
    const double bytes = static_cast<double>(it.bytes);
    server.per_byte = std::min(server.per_byte, it.body / bytes);
    return server.latency + server.per_byte * bytes;
  }

  void end_round(time_point now) noexcept {
    const bool was_used = 2 * full_ >= answers_;
    if (begun_ != time_point{}) {
      const double rate = answers_ / std::max(seconds{now - begun_}.count(), 1e-9);
      const double greatest = *std::ranges::max_element(rates_);
      // A rate below demand tells nothing about a smaller limit.
      if (was_used || rate > greatest) rates_[round_++ % rates_.size()] = rate;
      const double best_time = best_times_.count() / answers_;
      const double wanted = 2 * *std::ranges::max_element(rates_) * best_time;
      if (!was_halved_) ceiling_ = std::min(ceiling_ + 4, unlimited);
      constexpr double nearly = 0.9;
      is_held_back_ = was_used && limit_ == most_ && rate * best_time >= nearly * most_;
      set_limit(std::max(static_cast<int>(std::min(wanted, 1e6)), std::min(usual, ceiling_)));
      is_measured_ = true;
    }
    const bool is_far = latencies_ / answers_ >= near;
    far_bytes_ = is_far ? bytes_ / static_cast<std::uint64_t>(answers_) : 0;
    begun_ = now;
    answers_ = 0;
    full_ = 0;
    bytes_ = 0;
    latencies_ = best_times_ = {};
    was_halved_ = false;
  }

  void set_limit(int limit) noexcept {
    limit_ = std::clamp(std::min(limit, ceiling_), std::min(least, most_), most_);
  }

  static constexpr int unlimited = 1'000'000;
  int most_ = 1;
  int limit_ = first;
  int ceiling_ = unlimited;  ///< lower after a refusal
  bool was_halved_ = false;  ///< in this round
  bool is_held_back_ = false;
  bool is_measured_ = false;
  std::map<std::string, best, std::less<>> servers_;
  std::array<double, 8> rates_ = {};  ///< answers a second, of the last rounds
  std::size_t round_ = 0;
  std::uint64_t far_bytes_ = 0;  ///< bytes of a request in the last round; 0: the server was near

  // The round.
  int answers_ = 0;
  int full_ = 0;
  std::uint64_t bytes_ = 0;
  seconds latencies_ = {};  ///< the least ones of the servers
  seconds best_times_ = {};
  time_point begun_ = {};
};

}  // namespace feedline::detail
