#include "remote/request/in_flight_limit.hpp"

#include "support/checks/catch.hpp"

#include <algorithm>

using namespace std::chrono_literals;
using feedline::detail::in_flight_limit;

namespace {

/// Answers of a server that is some way off, and serves so many requests a second at most.
class server {
 public:
  using seconds = in_flight_limit::seconds;

  server(seconds latency, double rate, seconds body = 1us)
      : latency_{latency}, body_{body}, rate_{rate} {}

  /// The opening comes first, and nothing else is in its way.
  void open_object(in_flight_limit& limit) const {
    limit.answered({"a", latency_, body_, 1'000'000, false}, now_);
  }
  int limit_after(int answers, in_flight_limit& limit, bool full = true) {
    for (int i = 0; i < answers; ++i) {
      const double in_flight = limit.now();
      const double rate = std::min(in_flight / (latency_ + body_).count(), rate_);
      const seconds queued = std::max(seconds{in_flight / rate} - latency_ - body_, seconds{});
      now_ += std::chrono::duration_cast<std::chrono::nanoseconds>(seconds{1 / rate});
      limit.answered({"a", latency_ + queued, body_, 1'000'000, full}, now_);
    }
    return limit.now();
  }

 private:
  seconds latency_;
  seconds body_;
  double rate_;
  std::chrono::steady_clock::time_point now_ = std::chrono::steady_clock::now();
};

}  // namespace

TEST_CASE("requests in flight: grow to twice what latency times rate asks for, and stay",
          "[remote][host]") {
  in_flight_limit limit{1000};
  server far{50ms, 2000};  // 100 in flight fill it
  far.open_object(limit);
  (void)far.limit_after(5000, limit);
  for (int i = 0; i < 100; ++i) {
    const int found = far.limit_after(500, limit);
    CHECK(found >= 150);
    CHECK(found <= 210);
  }
}

TEST_CASE("requests in flight: measured after two round trips, however many are allowed at first",
          "[remote][host]") {
  in_flight_limit limit{4096};
  server far{50ms, 1e6};
  far.open_object(limit);
  CHECK(far.limit_after(in_flight_limit::first / 2, limit) == in_flight_limit::first);
  CHECK_FALSE(limit.is_measured());
  (void)far.limit_after(in_flight_limit::first, limit);
  CHECK(limit.is_measured());
  CHECK(limit.now() > 3 * in_flight_limit::first / 2);
  CHECK(limit.now() < 3 * in_flight_limit::first);
}

TEST_CASE("requests in flight: the limit tells whether more would raise the rate",
          "[remote][host]") {
  in_flight_limit limit{100};
  server far{50ms, 10'000};  // 500 in flight fill it
  far.open_object(limit);
  (void)far.limit_after(2000, limit);
  CHECK(limit.now() == 100);
  CHECK(limit.is_held_back());
  limit.set_most(2000);
  (void)far.limit_after(50'000, limit);
  CHECK(limit.now() > 500);
  CHECK_FALSE(limit.is_held_back());

  in_flight_limit slow_limit{100};
  server slow{50ms, 1500};  // 75 fill it, and 100 are in flight
  slow.open_object(slow_limit);
  (void)slow.limit_after(5000, slow_limit);
  CHECK(slow_limit.now() == 100);
  CHECK_FALSE(slow_limit.is_held_back());

  in_flight_limit idle_limit{100};
  far.open_object(idle_limit);
  (void)far.limit_after(5000, idle_limit, false);  // readers want no more
  CHECK_FALSE(idle_limit.is_held_back());
}

TEST_CASE("requests in flight: bodies that take long on one connection count", "[remote][host]") {
  in_flight_limit limit{1000};
  server narrow{5ms, 1000, 95ms};  // 100 in flight fill it
  narrow.open_object(limit);
  (void)narrow.limit_after(5000, limit);
  CHECK(narrow.limit_after(500, limit) >= 150);
}

TEST_CASE("requests in flight: none are added where the first ones fill a server",
          "[remote][host]") {
  in_flight_limit limit{1000};
  server near{100us, 2000};
  near.open_object(limit);
  (void)near.limit_after(200, limit);
  for (int i = 0; i < 50; ++i) CHECK(near.limit_after(100, limit) == in_flight_limit::usual);
}

TEST_CASE("requests in flight: their greatest number is kept", "[remote][host]") {
  in_flight_limit limit{200};
  server far{100ms, 1e6};
  CHECK(far.limit_after(5000, limit) == 200);
  limit.set_most(50);
  CHECK(limit.now() == 50);
  limit.set_most(1);
  CHECK(limit.now() == 1);
  for (int i = 0; i < 10; ++i) limit.refused();
  CHECK(limit.now() == 1);
}

TEST_CASE("requests in flight: halve once a round when a server refuses, and grow by some",
          "[remote][host]") {
  in_flight_limit limit{128};
  server far{50ms, 1e6};
  CHECK(far.limit_after(5000, limit) == 128);
  for (int i = 0; i < 30; ++i) limit.refused();
  CHECK(limit.now() == 64);
  CHECK(far.limit_after(64, limit) == 64);
  CHECK(far.limit_after(64, limit) == 68);
  CHECK(far.limit_after(5000, limit) == 128);
}

TEST_CASE("requests in flight: do not fall while fewer are asked for", "[remote][host]") {
  in_flight_limit limit{128};
  server far{50ms, 1e6};
  CHECK(far.limit_after(5000, limit) == 128);
  server idle{50ms, 10};
  CHECK(idle.limit_after(2000, limit, false) == 128);
}
