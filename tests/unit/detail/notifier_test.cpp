#include "detail/notifier.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <future>
#include <latch>
#include <thread>
#include <vector>

using namespace feedline::detail;

namespace {

std::chrono::nanoseconds cpu_time_of_this_thread() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds{spent.tv_sec} + std::chrono::nanoseconds{spent.tv_nsec};
}

}  // namespace

TEST_CASE("wait and notify: a condition that is true already is not waited for", "[detail][host]") {
  notifier under_test;
  int asked = 0;
  under_test.wait_until([&] { return ++asked > 0; });
  CHECK(asked == 1);
}

TEST_CASE("wait and notify: no notification is missed, whichever thread comes first",
          "[detail][host]") {
  // Two threads take turns: one missed ring, and both sleep forever.
  constexpr int turns = 2'000;
  notifier notifiers[2];
  std::atomic<int> turn{0};
  std::thread other{[&] {
    for (int mine = 1; mine < turns; mine += 2) {
      notifiers[1].wait_until([&] { return turn.load() == mine; });
      turn.store(mine + 1);
      notifiers[0].notify(1);
    }
  }};
  for (int mine = 0; mine < turns; mine += 2) {
    notifiers[0].wait_until([&] { return turn.load() == mine; });
    turn.store(mine + 1);
    notifiers[1].notify(1);
  }
  other.join();
  CHECK(turn.load() == turns);
}

TEST_CASE("wait and notify: notifying all wakes every waiter", "[detail][host]") {
  constexpr int waiters = 4;
  for (int round = 0; round < 50; ++round) {
    notifier under_test;
    std::atomic<bool> open{false};
    std::latch started{waiters};
    std::vector<std::thread> threads;
    for (int i = 0; i < waiters; ++i) {
      threads.emplace_back([&] {
        started.count_down();
        under_test.wait_until([&] { return open.load(); });
      });
    }
    started.wait();
    open.store(true);
    under_test.notify_all();
    for (auto& thread : threads) thread.join();
  }
  SUCCEED("nobody was left asleep");
}

TEST_CASE("wait and notify: notifying one waiter for each piece of work leaves no work undone",
          "[detail][host]") {
  // Each waiter takes one item at a time: one missed ring, and the last items stay forever.
  constexpr int waiters = 4;
  notifier under_test;
  notifier done;
  std::atomic<int> items{0};
  std::atomic<int> taken{0};
  std::atomic<bool> over{false};
  const auto take = [&] {
    for (int there = items.load(); there > 0;)
      if (items.compare_exchange_weak(there, there - 1)) return true;
    return over.load();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < waiters; ++i) {
    threads.emplace_back([&] {
      for (;;) {
        under_test.wait_until(take);
        if (over.load()) return;
        taken.fetch_add(1);
        done.notify(1);
      }
    });
  }
  int sent = 0;
  for (int round = 0; round < 500; ++round) {
    const int count = round % (waiters + 2);
    items.fetch_add(count);
    under_test.notify(static_cast<std::size_t>(count));
    sent += count;
    done.wait_until([&] { return taken.load() == sent; });
  }
  over.store(true);
  under_test.notify_all();
  for (auto& thread : threads) thread.join();
  CHECK(taken.load() == sent);
}

TEST_CASE(
    "wait and notify: the condition is asked again after a notification that did not fulfil it",
    "[detail][host]") {
  notifier under_test;
  std::atomic<int> value{0};
  std::thread waiter{[&] { under_test.wait_until([&] { return value.load() == 2; }); }};
  value.store(1);
  under_test.notify(1);
  value.store(2);
  under_test.notify(1);
  waiter.join();
  CHECK(value.load() == 2);
}

TEST_CASE("wait and notify: a long wait uses no CPU", "[detail][host]") {
  notifier under_test;
  std::atomic<bool> open{false};
  std::chrono::nanoseconds spent{};
  std::thread waiter{[&] {
    const auto before = cpu_time_of_this_thread();
    under_test.wait_until([&] { return open.load(); });
    spent = cpu_time_of_this_thread() - before;
  }};
  std::promise<void> never;  // measures the passing of time
  (void)never.get_future().wait_for(std::chrono::milliseconds{200});
  open.store(true);
  under_test.notify(1);
  waiter.join();
  CHECK(spent < std::chrono::milliseconds{100});
}

TEST_CASE("wait and notify: spinning ends by itself, and says whether it was worth it",
          "[detail][host]") {
  CHECK_FALSE(spin_until([] { return false; }));
  int asked = 0;
  CHECK(spin_until([&] { return ++asked == 3; }));
  CHECK(asked == 3);
}

TEST_CASE(
    "wait and notify: a deadline that has passed is not waited for, but the condition is asked",
    "[detail][host]") {
  notifier under_test;
  int asked = 0;
  CHECK_FALSE(under_test.wait_until([&] { return ++asked > 1; }, {}));
  CHECK(asked == 1);
  CHECK(under_test.wait_until([] { return true; }, {}));
}

TEST_CASE("wait and notify: a wait to a deadline ends with it, or with a notification before it",
          "[detail][host]") {
  notifier under_test;
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds{5};
  CHECK_FALSE(under_test.wait_until([] { return false; }, soon));
  CHECK(std::chrono::steady_clock::now() >= soon);
  std::atomic<bool> open{false};
  std::thread ringer{[&] {
    open.store(true);
    under_test.notify(1);
  }};
  CHECK(under_test.wait_until([&] { return open.load(); },
                              std::chrono::steady_clock::time_point::max()));
  ringer.join();
}
