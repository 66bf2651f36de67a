#include "statistics/cpu_sampler.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/cpu_burner.hpp"

#include <chrono>
#include <thread>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;
using detail::cpu_sampler;

TEST_CASE("cpu sampler: a request that computes is on a core", "[statistics][host]") {
  cpu_sampler sampler;
  sampler.begin(std::chrono::steady_clock::now());
  burn_cpu(40ms);
  sampler.end();
  const auto seen = sampler.look();
  CHECK(seen.cpu >= 40ms);
  CHECK(seen.wall >= seen.cpu - 1ms);
}

TEST_CASE("cpu sampler: a request that waits is neither on a core nor in the queue for one",
          "[statistics][host]") {
  cpu_sampler sampler;
  sampler.begin(std::chrono::steady_clock::now());
  std::this_thread::sleep_for(200ms);
  sampler.end();
  const auto seen = sampler.look();
  CHECK(seen.wall >= 200ms);
  CHECK(seen.cpu < 50ms);
  CHECK(seen.queued < seen.wall / 2);
}

TEST_CASE("cpu sampler: most requests that follow each other at once are not measured",
          "[statistics][host]") {
  cpu_sampler sampler;
  const auto now = std::chrono::steady_clock::now();
  sampler.begin(now);
  sampler.end();
  const auto once = sampler.look();
  sampler.begin(now + cpu_sampler::interval / 2);
  sampler.end();
  CHECK(sampler.look().wall == once.wall);
  sampler.begin(std::chrono::steady_clock::now() + cpu_sampler::interval);
  std::this_thread::sleep_for(1ms);
  sampler.end();
  CHECK(sampler.look().wall > once.wall);
}
