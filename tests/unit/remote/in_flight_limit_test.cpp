#include "remote/in_flight_limit.hpp"

#include "support/checks/catch.hpp"

#include <algorithm>

using namespace std::chrono_literals;
using feedline::detail::in_flight_limit;

namespace {

/// Answers of a server that is some way off, and serves so many requests a second at most.
class server {
 public:
  server(std::chrono::duration<double> latency, double rate) : latency_{latency}, rate_{rate} {}

  int limit_after(int answers, in_flight_limit& limit, bool full = true) {
    for (int i = 0; i < answers; ++i) {
      const double rate = std::min(limit.now() / latency_.count(), rate_);
      now_ += std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double>(1 / rate));
      limit.answered(100'000, now_, full);
    }
    return limit.now();
  }

 private:
  std::chrono::duration<double> latency_;
  double rate_;
  std::chrono::steady_clock::time_point now_ = {};
};

}  // namespace

TEST_CASE("requests in flight: grow to what latency times rate asks for, and little further",
          "[remote][host]") {
  in_flight_limit limit{1000};
  server far{50ms, 2000};  // 100 in flight fill it
  (void)far.limit_after(2000, limit);
  for (int i = 0; i < 100; ++i) {
    const int found = far.limit_after(100, limit);
    CHECK(found >= 100);
    CHECK(found <= 170);
  }
}

TEST_CASE("requests in flight: none are added where the first ones fill a server",
          "[remote][host]") {
  in_flight_limit limit{1000};
  server near{100us, 2000};
  for (int i = 0; i < 50; ++i) CHECK(near.limit_after(100, limit) <= 2 * in_flight_limit::first);
}

TEST_CASE("requests in flight: their greatest number is kept", "[remote][host]") {
  in_flight_limit limit{200};
  server far{100ms, 1e9};
  CHECK(far.limit_after(5000, limit) == 200);
  limit.set_most(50);
  CHECK(limit.now() == 50);
  limit.set_most(1);
  CHECK(limit.now() == 1);
  for (int i = 0; i < 10; ++i) limit.refused();
  CHECK(limit.now() == 1);
}

TEST_CASE("requests in flight: halve once a round when a server refuses, and grow again",
          "[remote][host]") {
  in_flight_limit limit{128};
  server far{50ms, 1e9};
  CHECK(far.limit_after(5000, limit) == 128);
  for (int i = 0; i < 30; ++i) limit.refused();
  CHECK(limit.now() == 64);
  CHECK(far.limit_after(128, limit) == 64);
  limit.refused();
  CHECK(limit.now() == 32);
  CHECK(far.limit_after(10'000, limit) >= 100);
}

TEST_CASE("requests in flight: do not grow while fewer are asked for", "[remote][host]") {
  in_flight_limit limit{128};
  server far{50ms, 1e9};
  CHECK(far.limit_after(1000, limit, false) == in_flight_limit::first);
}
