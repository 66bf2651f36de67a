#include "reader/slot_scheduler.hpp"
#include "support/checks/catch.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

using namespace feedline::detail;
using namespace std::chrono_literals;
using duration = slot_growth::duration;

namespace {

/// The sizes of slots that follow each other without a pause, if a batch takes so long.
std::vector<std::uint64_t> sizes(slot_growth& growth, int count, duration a_batch) {
  std::vector<std::uint64_t> taken;
  for (int i = 0; i < count; ++i) {
    taken.push_back(growth.next(false));
    growth.learn(taken.back(), taken.back() * a_batch);
  }
  return taken;
}

using list = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("slot growth: the first slot has one batch, whatever there is room for",
          "[reader][host]") {
  CHECK(slot_growth{1}.next(false) == 1);
  CHECK(slot_growth{1'000}.next(false) == 1);
}

TEST_CASE("slot growth: slots double while readers take them in less than a millisecond",
          "[reader][host]") {
  slot_growth growth{75};
  CHECK(sizes(growth, 9, 5us) == list{1, 2, 4, 8, 16, 32, 64, 75, 75});
}

TEST_CASE("slot growth: slots stop growing where they take some milliseconds", "[reader][host]") {
  slot_growth growth{75};
  CHECK(sizes(growth, 5, 600us) == list{1, 2, 2, 2, 2});
  slot_growth exact{75};
  CHECK(sizes(exact, 3, 1ms) == list{1, 1, 1});
}

TEST_CASE("slot growth: slow readers stay at one batch a slot", "[reader][host]") {
  slot_growth growth{75};
  CHECK(sizes(growth, 4, 32ms) == list{1, 1, 1, 1});
}

TEST_CASE("slot growth: slots are halved where readers become slow, and grow again",
          "[reader][host]") {
  slot_growth growth{64};
  (void)sizes(growth, 7, 1us);
  CHECK(sizes(growth, 7, 100us) == list{64, 32, 32, 32, 32, 32, 32});
  CHECK(sizes(growth, 7, 32ms) == list{32, 16, 8, 4, 2, 1, 1});
  CHECK(sizes(growth, 3, 1us) == list{1, 2, 4});
}

TEST_CASE("slot growth: after a pause comes one batch, and then the size that was reached",
          "[reader][host]") {
  slot_growth growth{64};
  (void)sizes(growth, 6, 1us);
  REQUIRE(growth.next(false) == 64);
  CHECK(growth.next(true) == 1);
  growth.learn(1, 10us);
  CHECK(growth.next(false) == 64);
}

TEST_CASE("slot growth: one batch that is slow tells that a large slot would be",
          "[reader][host]") {
  slot_growth growth{64};
  (void)sizes(growth, 6, 1us);
  CHECK(growth.next(true) == 1);
  growth.learn(1, GENERATE(duration{2ms}, duration{1s}));
  CHECK(growth.next(false) == 1);
}

TEST_CASE("slot growth: an epoch's short last slot does not make the next one small",
          "[reader][host]") {
  slot_growth growth{64};
  (void)sizes(growth, 6, 1us);
  growth.learn(3, 30us);
  CHECK(growth.next(false) == 64);
}
