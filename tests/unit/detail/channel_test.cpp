#include "detail/channel.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace feedline::detail;

namespace {

using shared = channel<int>;
using single = spsc_channel<int>;

}  // namespace

TEMPLATE_TEST_CASE("channel: items come out in the order sent, each once", "[detail][host]", shared,
                   single) {
  TestType line{3};
  CHECK_FALSE(line.try_pop().has_value());
  for (int round = 0; round < 5; ++round) {
    line.push(1);
    line.put(2);
    line.push(3);
    CHECK(line.try_pop() == 1);
    CHECK(line.pop() == 2);
    CHECK(line.pop() == 3);
    CHECK_FALSE(line.try_pop().has_value());
  }
}

TEMPLATE_TEST_CASE(
    "channel: it holds as many as it was made for, and one more is a broken invariant",
    "[detail][host]", shared, single) {
  const int capacity = GENERATE(1, 2, 7);
  TestType line{static_cast<std::size_t>(capacity)};
  for (int i = 0; i < capacity; ++i) line.push(i);
  CHECK_THROWS_AS(line.push(capacity), std::logic_error);
  CHECK(line.try_pop() == 0);
  line.push(capacity);  // there is room again
  CHECK_THROWS_AS(line.put(capacity + 1), std::logic_error);
}

TEMPLATE_TEST_CASE("channel: after closing, sent items still come out, then nothing",
                   "[detail][host]", shared, single) {
  TestType line{2};
  CHECK_FALSE(line.closed());
  line.push(1);
  line.push(2);
  line.close();
  line.close();
  CHECK(line.closed());
  CHECK(line.pop() == 1);
  CHECK(line.try_pop() == 2);
  CHECK_FALSE(line.pop().has_value());
  CHECK_FALSE(line.pop().has_value());
}

TEMPLATE_TEST_CASE("channel: a receiver that waits gets the next item", "[detail][host]", shared,
                   single) {
  // To and fro: the receiver waits for nearly every one.
  constexpr int turns = 1'000;
  TestType there{1};
  TestType back{1};
  std::thread other{[&] {
    while (const auto item = there.pop()) back.push(*item + 1);
    back.close();
  }};
  int wrong = 0;
  for (int i = 0; i < turns; ++i) {
    there.push(i);
    if (back.pop() != i + 1) ++wrong;
  }
  there.close();
  CHECK_FALSE(back.pop().has_value());
  other.join();
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("channel: closing wakes a receiver that waits", "[detail][host]", shared,
                   single) {
  for (int round = 0; round < 50; ++round) {
    TestType line{1};
    std::latch started{1};
    auto waiting = std::async(std::launch::async, [&] {
      started.count_down();
      return line.pop();
    });
    started.wait();
    line.close();
    CHECK_FALSE(waiting.get().has_value());
  }
}

TEST_CASE("channel: an item sent before the close reaches a receiver that waits",
          "[detail][host]") {
  for (int round = 0; round < 100; ++round) {
    shared line{1};
    std::latch started{1};
    auto waiting = std::async(std::launch::async, [&] {
      started.count_down();
      return line.pop();
    });
    started.wait();
    line.push(7);
    line.close();
    CHECK(waiting.get() == 7);
  }
}

TEST_CASE("channel: waiting for a condition ends when it is true after a wake, or at the close",
          "[detail][host]") {
  shared line{1};
  std::atomic<bool> ready{false};
  auto waiting = std::async(std::launch::async, [&] {
    line.wait_until([&] { return ready.load(); });
    return ready.load();
  });
  line.wake_all();
  ready.store(true);
  line.wake_all();
  CHECK(waiting.get());

  auto for_ever = std::async(std::launch::async, [&] { line.wait_until([] { return false; }); });
  line.close();
  for_ever.get();
  CHECK(line.closed());
}

TEST_CASE("channel: many senders and many receivers exchange every item once", "[detail][host]") {
  constexpr int senders = 3;
  constexpr int receivers = 3;
  constexpr int each = 5'000;
  shared line{senders * each};
  std::vector<std::vector<int>> received(receivers);
  std::latch gate{senders + receivers};
  std::vector<std::thread> sending;
  std::vector<std::thread> receiving;
  for (int s = 0; s < senders; ++s) {
    sending.emplace_back([&, s] {
      gate.arrive_and_wait();
      for (int i = 0; i < each; ++i) line.push(s * each + i);
    });
  }
  for (int r = 0; r < receivers; ++r) {
    receiving.emplace_back([&, r] {
      gate.arrive_and_wait();
      while (const auto item = line.pop()) received[static_cast<std::size_t>(r)].push_back(*item);
    });
  }
  for (auto& thread : sending) thread.join();
  line.close();
  for (auto& thread : receiving) thread.join();

  std::vector<int> count(senders * each, 0);
  for (const auto& some : received)
    for (const int item : some) ++count[static_cast<std::size_t>(item)];
  CHECK(count == std::vector<int>(senders * each, 1));
}

TEST_CASE("channel: tokens that circulate never find it full, though it is exactly that large",
          "[detail][host]") {
  // The rings' use: as many tokens as there is room, taken and given back by many threads.
  constexpr int tokens = 2;
  constexpr int threads = 4;
  shared line{tokens};
  for (int i = 0; i < tokens; ++i) line.push(i);
  std::atomic<int> refused{0};
  std::latch gate{threads};
  std::vector<std::thread> going_round;
  for (int t = 0; t < threads; ++t) {
    going_round.emplace_back([&] {
      gate.arrive_and_wait();
      try {
        for (int i = 0; i < 5'000; ++i) line.push(*line.pop());
      } catch (const std::logic_error&) {
        refused.fetch_add(1);
      }
    });
  }
  for (auto& thread : going_round) thread.join();
  CHECK(refused.load() == 0);
}
