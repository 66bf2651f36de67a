/// The search for readers and staging slots, on models of what limits a loop.

#include "loader/pipeline/tuner.hpp"

#include "support/checks/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

using namespace feedline;
using feedline::detail::tuner;
using setting = tuner::setting;

namespace {

/// Statistics of a window of 64 batches with a given time for a batch, `step` of it in the
/// consumer, and a given busy share of the readers.
loader_statistics window(double batch_ms, double step_ms, double busy = 1) {
  const auto time = [](double ms) {
    return std::chrono::nanoseconds{static_cast<std::int64_t>(64e6 * ms)};
  };
  loader_statistics seen;
  seen.consumer.batches = 64;
  seen.consumer.busy = time(step_ms);
  seen.consumer.starved = time(batch_ms - step_ms);
  seen.exposed = seen.consumer.starved;
  seen.reader.busy = time(batch_ms * busy);
  seen.reader.starved = time(batch_ms * (1 - busy));
  return seen;
}

/// Milliseconds a batch in a setting.
using model = std::function<double(setting)>;

/// Runs a search to its end; all settings that it worked with, the chosen one last.
std::vector<setting> settings_of(tuner& search, double step_ms, const model& read_ms,
                                 double busy = 1) {
  std::vector<setting> seen{search.current()};
  while (!search.settled()) {
    REQUIRE(seen.size() < 64);  // it ends
    const double batch_ms = std::max(read_ms(search.current()), step_ms);
    seen.push_back(search.learn(window(batch_ms, step_ms, busy)));
  }
  return seen;
}

setting chosen(setting first, setting most, double step_ms, const model& read_ms, double busy = 1) {
  tuner search{first, most};
  return settings_of(search, step_ms, read_ms, busy).back();
}

/// 64 ms a batch for one reader, with no bound to how many wait at a time.
double of_storage(setting at) {
  return 64.0 / at.readers;
}

/// 8 ms a batch for one core; with more readers than cores each switch costs.
model of_cores(int cores) {
  return [cores](setting at) {
    const int over = std::max(at.readers - cores, 0);
    return 8.0 / std::min(at.readers, cores) * (1 + 0.02 * over);
  };
}

}  // namespace

TEST_CASE("tuner: if reads wait for storage it takes all readers that the budget has",
          "[loader][host]") {
  CHECK(chosen({1, 4}, {32, 4}, 0.1, of_storage) == setting{32, 4});
  CHECK(chosen({4, 4}, {33, 4}, 0.1, of_storage) == setting{33, 4});
}

TEST_CASE("tuner: it takes no more readers than end the consumer's waiting", "[loader][host]") {
  CHECK(chosen({1, 4}, {64, 4}, 8, of_storage).readers == 8);
  CHECK(chosen({1, 4}, {64, 4}, 20, of_storage).readers == 4);
}

TEST_CASE("tuner: if reads compute it stops at the cores", "[loader][host]") {
  const int cores = GENERATE(1, 2, 3, 4, 6, 8);
  const setting found = chosen({1, 4}, {64, 4}, 0.1, of_cores(cores));
  CHECK(of_cores(cores)(found) <= 1.05 * of_cores(cores)({cores, 4}));
  CHECK((found.readers >= cores && found.readers <= cores + cores / 3));
}

TEST_CASE("tuner: readers that are busy all the time may gain by more slots", "[loader][host]") {
  const model uneven = [](setting at) { return of_storage(at) * (at.slots < 16 ? 1.2 : 1); };
  CHECK(chosen({4, 8}, {16, 32}, 0.1, uneven) == setting{16, 16});
}

TEST_CASE("tuner: it begins with too many readers, and finds that fewer are faster",
          "[loader][host]") {
  const model in_each_others_way = [](setting at) { return 1.0 + 0.2 * at.readers; };
  CHECK(chosen({8, 4}, {64, 4}, 0.1, in_each_others_way).readers == 1);
  CHECK(chosen({8, 4}, {8, 4}, 0.1, of_cores(2)).readers == 2);
}

TEST_CASE("tuner: if the consumer hardly waits it ends soon, with the settings of its beginning",
          "[loader][host]") {
  tuner search{{2, 4}, {64, 16}};
  const auto seen = settings_of(search, 100, of_storage);
  CHECK(seen == std::vector<setting>(5, {2, 4}));
  CHECK(search.why() ==
        "a batch takes 100.00 ms with 2 readers, 4 slots, 0 % of it waiting: there is nothing to "
        "gain");
}

TEST_CASE("tuner: a consumer that waits for nothing for a while only is not taken for calm",
          "[loader][host]") {
  tuner search{{2, 4}, {4, 4}};
  for (const double batch_ms : {1.2, 1.0, 1.0, 1.2}) {
    CHECK(search.current() == setting{2, 4});
    (void)search.learn(window(batch_ms, 1));
  }
  CHECK_FALSE(search.settled());
  CHECK(search.current() == setting{4, 4});
}

TEST_CASE("tuner: if readers have no room it takes slots, and only as many as help",
          "[loader][host]") {
  const model uneven = [](setting at) { return 1 + 4.0 / static_cast<double>(at.slots); };
  CHECK(chosen({4, 4}, {4, 64}, 0.1, uneven, 0.3) == setting{4, 64});
  const model up_to_16 = [](setting at) {
    return 1 + 16 / static_cast<double>(std::min<std::size_t>(at.slots, 16));
  };
  CHECK(chosen({4, 4}, {4, 64}, 0.1, up_to_16, 0.3) == setting{4, 16});
}

TEST_CASE("tuner: it goes back to readers when slots have brought something", "[loader][host]") {
  // At first twice as many readers save 2 %.
  const model both = [](setting at) {
    return 0.8 / at.readers + 16.0 / static_cast<double>(at.slots);
  };
  for (const double busy : {0.3, 0.7})
    CHECK(chosen({4, 4}, {16, 64}, 0.01, both, busy) == setting{16, 64});
}

TEST_CASE("tuner: a budget that leaves nothing to choose ends the search at once",
          "[loader][host]") {
  tuner search{{1, 4}, {1, 4}};
  CHECK(settings_of(search, 0.1, of_storage).size() == 3);
  CHECK(search.current() == setting{1, 4});
  CHECK(
      search.why() ==
      "a batch takes 64.00 ms with 1 reader, 4 slots, 100 % of it waiting: the budget has nothing "
      "else to try");
}

TEST_CASE("tuner: it stays within the budget, and ends within two dozen windows",
          "[loader][host]") {
  const std::vector<model> models{
      of_storage, of_cores(4), [](setting) { return 1.0; },
      [](setting at) { return 1.0 / at.readers + 1.0 / static_cast<double>(at.slots); }};
  for (const model& each : models) {
    for (const int first : {1, 3, 8, 48}) {
      for (const double busy : {0.3, 0.7, 1.0}) {
        tuner search{{first, 4}, {48, 32}};
        const auto seen = settings_of(search, 0.01, each, busy);
        CHECK(seen.size() <= 25);
        for (const setting& at : seen) {
          CHECK((at.readers >= 1 && at.readers <= 48));
          CHECK((at.slots >= 4 && at.slots <= 32));
        }
      }
    }
  }
}

TEST_CASE("tuner: disturbed measurements make it neither oscillate nor miss the best",
          "[loader][host]") {
  std::mt19937_64 random{1};
  int far = 0;
  for (int run = 0; run < 1'000; ++run) {
    // A tenth of the windows takes up to half as long again, all up to 2 % longer.
    const model disturbed = [&](setting at) {
      const auto part = [&] { return static_cast<double>(random() % 1'000) / 1'000; };
      const double more = part() < 0.1 ? 0.5 * part() : 0;
      return of_cores(8)(at) * (1 + 0.02 * part() + more);
    };
    tuner search{{1, 4}, {64, 4}};
    const auto seen = settings_of(search, 0.1, disturbed);
    CHECK(seen.size() <= 40);
    far += of_cores(8)(seen.back()) > 1.05 * of_cores(8)({8, 4}) ? 1 : 0;
  }
  CHECK(far <= 30);
}

TEST_CASE("tuner: a gain that is not clear is measured once more, and the shorter times count",
          "[loader][host]") {
  tuner search{{2, 4}, {4, 4}};
  const auto takes = [&](double batch_ms) {
    (void)search.learn(window(batch_ms, 0.1));
    return search.current().readers;
  };
  CHECK(takes(4) == 2);
  CHECK(takes(8) == 4);    // disturbed
  CHECK(takes(3.5) == 2);  // not clear
  CHECK(takes(4) == 4);
  CHECK(takes(5) == 4);  // disturbed
  CHECK(search.settled());
}

TEST_CASE(
    "tuner: readers that are often without work make it begin with slots, others with readers",
    "[loader][host]") {
  for (const double busy : {0.3, 0.7}) {
    tuner search{{4, 4}, {16, 16}};
    (void)search.learn(window(1, 0.1, busy));
    (void)search.learn(window(1, 0.1, busy));
    CHECK(search.current() == (busy < 0.5 ? setting{4, 8} : setting{8, 4}));
  }
}

TEST_CASE("tuner: the search starts again only if the consumer keeps waiting longer than before",
          "[loader][host]") {
  tuner search{{4, 4}, {64, 4}};
  (void)settings_of(search, 20, of_storage);
  REQUIRE(search.current().readers == 4);
  const auto slower = [&](int windows) {
    for (int i = 0; i < windows; ++i) (void)search.learn(window(30, 20));
  };
  slower(3);
  CHECK(search.settled());
  (void)search.learn(window(20, 20));  // it was a disturbance
  slower(3);
  CHECK(search.settled());
  CHECK(search.current().readers == 4);
  slower(1);
  CHECK_FALSE(search.settled());
  CHECK(settings_of(search, 20, [](setting at) { return 2 * of_storage(at); }).back().readers == 8);
}

TEST_CASE("tuner: it reports its measurements", "[loader][host]") {
  tuner search{{2, 4}, {8, 4}};
  CHECK(search.why() == "nothing is measured yet");
  for (int i = 0; i < 3; ++i) (void)search.learn(window(of_cores(4)(search.current()), 0.1));
  CHECK(search.why() ==
        "a batch takes 2.00 ms with 4 readers, 4 slots, 95 % of it waiting (2 readers, 4 slots: "
        "4.00 ms); still searching");
  (void)settings_of(search, 0.1, of_cores(4));
  CHECK(search.why() ==
        "a batch takes 2.00 ms with 4 readers, 4 slots, 95 % of it waiting, and nothing that was "
        "tried is 3 % faster (2 readers, 4 slots: 4.00 ms; 8 readers, 4 slots: 2.16 ms; 6 readers, "
        "4 slots: 2.08 ms)");
}
