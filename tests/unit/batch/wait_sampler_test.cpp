#include "batch/wait_sampler.hpp"

#include "support/checks/catch.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace std::chrono_literals;

namespace {

struct sampled {
  std::uint64_t measured = 0;
  double share = 0;  ///< estimate of the waits' true time, as a share of it
};

/// So many waits, each as long as the pattern says, with a step between two. What one took is known
/// when the next is measured.
sampled sample(const std::vector<std::chrono::nanoseconds>& pattern, std::chrono::nanoseconds step,
               std::uint64_t waits) {
  detail::measuring_interval interval{500us};
  detail::wait_sampler sampler{interval.now()};
  detail::wait_sampler::clock::time_point now{1s};
  sampled found;
  double in_truth = 0;
  double told = 0;
  double last = 0;
  std::uint64_t left_out = 0;
  for (std::uint64_t i = 0; i < waits; ++i) {
    const auto wait = pattern[i % pattern.size()];
    const auto time = static_cast<double>(wait.count());
    in_truth += time;
    if (sampler.begin(now)) {
      if (found.measured != 0) interval.add(std::chrono::nanoseconds{std::llround(last)});
      sampler.set_interval(interval.now());
      last = time;
      told += time * static_cast<double>(1 + left_out);
      left_out = 0;
      ++found.measured;
    } else if (sampler.has_measured()) {
      told += last;
    } else {
      ++left_out;
    }
    now += wait + step;
  }
  found.share = told / in_truth;
  return found;
}

}  // namespace

TEST_CASE("wait sampler: waits that are rarer than the interval are all measured",
          "[statistics][host]") {
  const auto found = sample({300us, 100us}, 500us, 1000);
  CHECK(found.measured == 1000);
  CHECK(found.share == 1);
}

TEST_CASE("wait sampler: about one of an interval is measured where waits are frequent",
          "[statistics][host]") {
  const auto found = sample({25us}, 5us, 33'000);  // 2,000 intervals
  CHECK(found.measured > 1500);
  CHECK(found.measured < 2500);
  CHECK(found.share > 0.999);
  CHECK(found.share < 1.001);
}

TEST_CASE("wait sampler: short waits are measured ever less often, long ones as often as before",
          "[statistics][host]") {
  const auto found = sample({5us}, 5us, 1'000'000);  // 1,250 of the longest intervals
  CHECK(found.measured > 1000);
  CHECK(found.measured < 1500);
  CHECK(found.share > 0.99);
  CHECK(found.share < 1.01);

  detail::measuring_interval interval{500us};
  for (int i = 0; i < 10; ++i) interval.add(19us);
  CHECK(interval.now() == 8ms);
  interval.add(20us);
  CHECK(interval.now() == 4ms);
  for (int i = 0; i < 10; ++i) interval.add(1ms);
  CHECK(interval.now() == 500us);
}

TEST_CASE("wait sampler: the estimate is right in the long run, for any pattern",
          "[statistics][host]") {
  const std::vector<std::chrono::nanoseconds> pattern =
      GENERATE(as<std::vector<std::chrono::nanoseconds>>{},
               std::vector<std::chrono::nanoseconds>{600us, 10us},
               std::vector<std::chrono::nanoseconds>{10us, 600us, 10us},
               std::vector<std::chrono::nanoseconds>{450us, 1us, 100us},
               std::vector<std::chrono::nanoseconds>{499us, 2us, 2us, 2us},
               std::vector<std::chrono::nanoseconds>{400us, 1us, 1us, 1us, 1us, 1us, 1us, 1us});
  const auto found = sample(pattern, 1us, 2'000'000);
  CAPTURE(pattern.size(), found.measured);
  CHECK(found.share > 0.96);
  CHECK(found.share < 1.04);
}

TEST_CASE("wait sampler: a few quick waits make no long block of slow ones", "[statistics][host]") {
  detail::wait_sampler sampler{500us};
  detail::wait_sampler::clock::time_point now{1s};
  for (int i = 0; i < 10; ++i) (void)sampler.begin(now += 1us);
  std::uint64_t measured = 0;
  for (int i = 0; i < 100; ++i) measured += sampler.begin(now += 1ms) ? 1 : 0;
  CHECK(measured >= 90);
}
