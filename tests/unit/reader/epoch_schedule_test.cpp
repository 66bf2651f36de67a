#include "reader/epoch_schedule.hpp"

#include "support/checks/catch.hpp"

#include <cstdint>
#include <future>
#include <latch>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

using namespace feedline::detail;

namespace {

/// The (epoch, ticket) of the next ticket, which takes one batch.
std::pair<std::uint64_t, std::uint64_t> next(epoch_schedule& schedule) {
  const auto taken = schedule.take().value();
  schedule.opened(taken, 1);
  return {taken.pass->epoch, taken.ticket.value};
}

using line = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

line next(epoch_schedule& schedule, int count) {
  line taken;
  for (int i = 0; i < count; ++i) taken.push_back(next(schedule));
  return taken;
}

}  // namespace

TEST_CASE("epoch schedule: with the number of epochs known the first is read ahead unasked",
          "[loader][host]") {
  epoch_schedule schedule{2, 3};
  CHECK(next(schedule, 2) == line{{0, 0}, {0, 1}});
}

TEST_CASE("epoch schedule: each claim lets the epoch after it be read ahead, and no further",
          "[loader][host]") {
  epoch_schedule schedule{2, 3};
  const auto first = schedule.claim(0);
  CHECK(first->epoch == 0);
  CHECK(next(schedule, 4) == line{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  auto waiting = std::async(std::launch::async, [&] { return next(schedule); });
  const auto second = schedule.claim(1);
  CHECK(waiting.get() == std::pair<std::uint64_t, std::uint64_t>{2, 0});
  const auto third = schedule.claim(2);
  CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{2, 1});
  schedule.close();  // epoch 2 was the last: there is nothing to read ahead
  CHECK_FALSE(schedule.take().has_value());
}

TEST_CASE("epoch schedule: with their number unknown only claimed epochs are read",
          "[loader][host]") {
  epoch_schedule schedule{2, 0};
  auto waiting = std::async(std::launch::async, [&] { return next(schedule); });
  const auto pass = schedule.claim(7);
  CHECK(waiting.get() == std::pair<std::uint64_t, std::uint64_t>{7, 0});
  CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{7, 1});
  const auto again = schedule.claim(7);
  CHECK(again != pass);  // another pass over the same order
  CHECK(next(schedule, 2) == line{{7, 0}, {7, 1}});
}

TEST_CASE("epoch schedule: the claim of another epoch than was guessed abandons the guess",
          "[loader][host]") {
  epoch_schedule schedule{2, 10};
  const auto guessed = schedule.take().value().pass;
  const auto pass = schedule.claim(5);
  CHECK(guessed->abandoned.load());
  CHECK_FALSE(pass->abandoned.load());
  CHECK(next(schedule, 3) == line{{5, 0}, {5, 1}, {6, 0}});
}

TEST_CASE("epoch schedule: an epoch outside of those announced is read, and nothing after it",
          "[loader][host]") {
  const std::uint64_t epoch =
      GENERATE(std::uint64_t{2}, std::uint64_t{3}, std::numeric_limits<std::uint64_t>::max());
  epoch_schedule schedule{1, 3};
  const auto pass = schedule.claim(epoch);
  CHECK(next(schedule) == std::pair{epoch, std::uint64_t{0}});
  auto waiting = std::async(std::launch::async, [&] { return schedule.take().has_value(); });
  schedule.close();
  CHECK_FALSE(waiting.get());
}

TEST_CASE("epoch schedule: beginning an epoch abandons those before it, not those after",
          "[loader][host]") {
  epoch_schedule schedule{2, 0};
  const auto first = schedule.claim(0);
  const auto second = schedule.claim(1);
  const auto third = schedule.claim(2);
  CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{0, 0});
  CHECK(schedule.begin(second));
  CHECK(first->abandoned.load());
  CHECK_FALSE(second->abandoned.load());
  CHECK_FALSE(third->abandoned.load());
  CHECK_FALSE(schedule.begin(first));
  CHECK(next(schedule, 4) == line{{1, 0}, {1, 1}, {2, 0}, {2, 1}});
}

TEST_CASE("epoch schedule: an epoch that ended is opened no further and cannot be begun again",
          "[loader][host]") {
  epoch_schedule schedule{3, 0};
  const auto first = schedule.claim(0);
  const auto second = schedule.claim(1);
  CHECK(schedule.begin(first));
  CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{0, 0});
  schedule.end(first);
  schedule.end(first);  // a range that ended is destroyed as well
  CHECK(first->abandoned.load());
  CHECK_FALSE(schedule.begin(first));
  CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{1, 0});
  CHECK(schedule.begin(second));
}

TEST_CASE("epoch schedule: a range that is dropped before it began leaves the others in line",
          "[loader][host]") {
  epoch_schedule schedule{1, 0};
  const auto first = schedule.claim(0);
  const auto second = schedule.claim(1);
  const auto third = schedule.claim(2);
  schedule.end(second);
  CHECK(next(schedule, 2) == line{{0, 0}, {2, 0}});
  CHECK_FALSE(first->abandoned.load());
}

TEST_CASE("epoch schedule: a ticket begins where the one before it ended, however long that was",
          "[loader][host]") {
  epoch_schedule schedule{10, 2};
  const auto pass = schedule.claim(0);
  std::uint64_t ticket = 0;
  std::uint64_t first = 0;
  for (const std::uint64_t batches : {1U, 2U, 4U, 3U}) {
    const auto taken = schedule.take().value();
    CHECK(taken.pass == pass);
    CHECK(taken.ticket.value == ticket++);
    CHECK(taken.first_batch == first);
    schedule.opened(taken, batches);
    first += batches;
  }
  const auto taken = schedule.take().value();
  CHECK(taken.pass->epoch == 1);
  CHECK(taken.first_batch == 0);
}

TEST_CASE("epoch schedule: a ticket is given out until it was opened", "[loader][host]") {
  epoch_schedule schedule{2, 1};
  CHECK(schedule.take().value().first_batch == 0);
  CHECK(schedule.take().value().first_batch == 0);
}

TEST_CASE("epoch schedule: a ticket whose epoch was left meanwhile counts for no other",
          "[loader][host]") {
  epoch_schedule schedule{2, 0};
  const auto first = schedule.claim(0);
  const auto second = schedule.claim(1);
  const auto taken = schedule.take().value();
  schedule.end(first);
  schedule.opened(taken, 2);
  CHECK(next(schedule, 2) == line{{1, 0}, {1, 1}});
}

TEST_CASE("epoch schedule: a ticket tells whether there was nothing to open before it",
          "[loader][host]") {
  epoch_schedule ready{1, 1};
  CHECK_FALSE(ready.take().value().waited);
  bool waited = false;
  for (int round = 0; round < 10'000 && !waited; ++round) {  // the claim may come first
    epoch_schedule schedule{1, 0};
    std::latch started{1};
    auto waiting = std::async(std::launch::async, [&] {
      started.count_down();
      return schedule.take().value().waited;
    });
    started.wait();
    const auto pass = schedule.claim(0);
    waited = waiting.get();
  }
  CHECK(waited);
}

TEST_CASE("epoch schedule: closing wakes a slot scheduler that waits, and gives out nothing more",
          "[loader][host]") {
  epoch_schedule schedule{1, 0};
  auto waiting = std::async(std::launch::async, [&] { return schedule.take().has_value(); });
  schedule.close();
  CHECK_FALSE(waiting.get());
  const auto late = schedule.claim(0);
  CHECK(late->epoch == 0);
  CHECK_FALSE(schedule.take().has_value());
}

TEST_CASE("epoch schedule: an epoch can begin at any batch, and with none left it is not opened",
          "[loader][host]") {
  epoch_schedule schedule{5, 0};
  const auto pass = schedule.claim(2, 3);
  const auto none = schedule.claim(3, 5);
  const auto whole = schedule.claim(4);
  CHECK(pass->first_batch == 3);
  CHECK(schedule.take().value().first_batch == 3);
  CHECK(next(schedule, 2) == line{{2, 0}, {2, 1}});
  CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{4, 0});
  CHECK(schedule.begin(none));
}

TEST_CASE(
    "epoch schedule: a seek abandons queued epochs, and is read ahead if the number of epochs is "
    "known",
    "[loader][host]") {
  const std::uint64_t epochs = GENERATE(0U, 9U);
  epoch_schedule schedule{5, epochs};
  const auto first = schedule.claim(0);
  const auto second = schedule.claim(1);
  schedule.seek(7, 2);
  CHECK(first->abandoned.load());
  CHECK(second->abandoned.load());
  CHECK_FALSE(schedule.begin(first));
  CHECK_FALSE(schedule.begin(second));
  std::shared_ptr<epoch_pass> guess;
  if (epochs != 0) guess = schedule.take().value().pass;
  const auto pass = schedule.claim(7, 2);
  if (guess) CHECK(pass == guess);
  CHECK_FALSE(pass->abandoned.load());
  CHECK(schedule.take().value().first_batch == 2);
  CHECK(next(schedule, 3) == line{{7, 0}, {7, 1}, {7, 2}});
  if (epochs != 0) CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{8, 0});
}

TEST_CASE("epoch schedule: all epochs in line can be abandoned, and another one claimed then",
          "[loader][host]") {
  epoch_schedule schedule{5, 9};
  const auto first = schedule.claim(0);
  const auto second = schedule.claim(1);
  schedule.abandon_all();
  CHECK(first->abandoned.load());
  CHECK(second->abandoned.load());
  CHECK_FALSE(schedule.begin(first));
  const auto later = schedule.claim(6);
  CHECK(next(schedule) == std::pair<std::uint64_t, std::uint64_t>{6, 0});
  CHECK(schedule.begin(later));
}

TEST_CASE("epoch schedule: a wait for an epoch to be abandoned ends, whatever ends the epoch",
          "[loader][host]") {
  const int ends = GENERATE(0, 1, 2, 3, 4);
  epoch_schedule schedule{5, 0};
  const auto pass = schedule.claim(0);
  const auto next = schedule.claim(1);
  std::latch begun{1};
  auto waits = std::async(std::launch::async, [&] {
    begun.count_down();
    schedule.await_abandoned(*pass);
  });
  begun.wait();
  if (ends == 0) schedule.end(pass);
  if (ends == 1) CHECK(schedule.begin(next));
  if (ends == 2) schedule.seek(0, 0);
  if (ends == 3) schedule.abandon_all();
  if (ends == 4) schedule.close();
  waits.get();
  CHECK(pass->abandoned.load() == (ends != 4));
}
