#include "statistics/stage_clock.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace feedline;
using namespace std::chrono_literals;
using detail::activity;
using detail::stage_clock;
using detail::stage_totals;

namespace {

std::chrono::nanoseconds time_in(const stage_totals& totals, activity what) {
  return totals.time.at(static_cast<std::size_t>(what));
}

/// Writes down every span.
struct span_log final : detail::activity_listener {
  void on_activity(const detail::activity_span& span, activity) noexcept override {
    if (span.what != activity::idle) spans.push_back(span);
  }
  std::vector<detail::activity_span> spans;
};

}  // namespace

TEST_CASE("stage clock: each activity has the time from its beginning to the next one's",
          "[statistics][host]") {
  stage_clock clock;
  const auto start = std::chrono::steady_clock::now();
  clock.enter(activity::busy, start);
  clock.enter(activity::starved, start + 5us);
  clock.enter(activity::busy, start + 7us);
  clock.lap(start + 10us);
  clock.enter(activity::stalled, start + 20us);
  clock.enter(activity::idle, start + 21us);
  const stage_totals seen = clock.look(start + 50us);
  CHECK(time_in(seen, activity::busy) == 18us);
  CHECK(time_in(seen, activity::starved) == 2us);
  CHECK(time_in(seen, activity::stalled) == 1us);
  CHECK(time_in(seen, activity::copy_wait) == 0us);
}

TEST_CASE("stage clock: a snapshot has the time of the activity that is still running",
          "[statistics][host]") {
  stage_clock clock;
  const auto start = std::chrono::steady_clock::now();
  clock.enter(activity::busy, start);
  clock.enter(activity::starved, start + 5us);
  clock.enter(activity::busy, start + 6us);
  CHECK(time_in(clock.look(start + 106us), activity::busy) == 105us);
  CHECK(time_in(clock.look(start + 106us), activity::starved) == 1us);
  clock.enter(activity::starved, start + 200us);
  CHECK(time_in(clock.look(start + 203us), activity::starved) == 4us);
  CHECK(time_in(clock.look(start), activity::starved) == 0us);  // never less than nothing
}

TEST_CASE("stage clock: a wait within an activity goes back to it", "[statistics][host]") {
  stage_clock clock;
  {
    const detail::in_activity reading{&clock, activity::busy};
    {
      const detail::in_activity waiting{&clock, activity::copy_wait};
      CHECK(clock.now() == activity::copy_wait);
    }
    CHECK(clock.now() == activity::busy);
  }
  CHECK(clock.now() == activity::idle);
  const detail::in_activity unmeasured{nullptr, activity::busy};
}

TEST_CASE("stage clock: a listener hears every span but those of idleness", "[statistics][host]") {
  span_log log;
  stage_clock clock;
  clock.name(stage::reader, 3, &log);
  const auto start = std::chrono::steady_clock::now();
  clock.enter(activity::busy, start);
  clock.at(1, 40);
  clock.lap(start + 5us);
  clock.at(1, 41);
  clock.enter(activity::starved, start + 7us);
  clock.enter(activity::idle, start + 9us);
  clock.enter(activity::busy, start + 20us);
  REQUIRE(log.spans.size() == 3);
  CHECK(log.spans[0].stage == stage::reader);
  CHECK(log.spans[0].lane == 3);
  CHECK(log.spans[0].what == activity::busy);
  CHECK(log.spans[0].epoch == 1);
  CHECK(log.spans[0].batch == 40);
  CHECK(log.spans[0].begin == start);
  CHECK(log.spans[0].end == start + 5us);
  CHECK(log.spans[1].batch == 41);
  CHECK(log.spans[1].begin == start + 5us);
  CHECK(log.spans[2].what == activity::starved);
  CHECK(log.spans[2].end == start + 9us);
}

TEST_CASE("stage clock: slots are counted with the sum of their latencies and the longest",
          "[statistics][host]") {
  stage_clock clock;
  const auto start = std::chrono::steady_clock::now();
  clock.count_slot(start, start + 3us);
  clock.count_slot(start, start + 9us);
  clock.count_slot(start + 5us, start + 6us);
  clock.count_slot(start + 5us, start);  // clocks of two threads
  const stage_totals seen = clock.look();
  CHECK(seen.slots == 4);
  CHECK(seen.latency == 13us);
  CHECK(seen.max_latency == 9us);
}

TEST_CASE("stage clock: times that another thread sees never decrease", "[statistics][host]") {
  stage_clock clock;
  std::atomic<bool> ended{false};
  std::thread worker{[&] {
    for (int i = 0; i < 20'000; ++i) {
      clock.enter(i % 2 == 0 ? activity::busy : activity::starved);
      clock.count_samples(1);
    }
    ended.store(true);
  }};
  std::uint64_t samples = 0;
  while (!ended.load()) {
    const auto before = std::chrono::steady_clock::now();
    const stage_totals seen = clock.look(before);
    const stage_totals again = clock.look();
    const bool grows = seen.samples >= samples && again.samples >= seen.samples;
    if (!grows) FAIL("a counter ran backwards");
    samples = again.samples;
  }
  worker.join();
  CHECK(clock.look().samples == 20'000);
}
