#include "rows/scratch_pool.hpp"

#include "support/checks/catch.hpp"

#include <atomic>
#include <latch>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <vector>

using namespace feedline;

namespace {

struct counted {
  int number = 0;
  std::atomic<int> users{0};
};

}  // namespace

TEST_CASE("scratch pool: as many are made as were in use at once, and used again",
          "[dataset][host]") {
  int made = 0;
  detail::scratch_pool<counted> pool{[&] {
    auto thing = std::make_unique<counted>();
    thing->number = ++made;
    return thing;
  }};
  {
    const auto first = pool.take();
    const auto second = pool.take();
    CHECK(std::set{first->number, second->number} == std::set{1, 2});
  }
  for (int i = 0; i < 5; ++i) CHECK(pool.take()->number <= 2);
  CHECK(made == 2);
}

TEST_CASE("scratch pool: nothing is lost if one cannot be made", "[dataset][host]") {
  bool fails = true;
  detail::scratch_pool<counted> pool{[&] {
    if (fails) throw std::bad_alloc{};
    return std::make_unique<counted>();
  }};
  CHECK_THROWS_AS(pool.take(), std::bad_alloc);
  fails = false;
  CHECK(pool.take()->number == 0);
}

TEST_CASE("scratch pool: no two threads have the same thing", "[dataset][host]") {
  detail::scratch_pool<counted> pool{[] { return std::make_unique<counted>(); }};
  std::atomic<int> shared{0};
  constexpr int thread_count = 4;
  std::latch gate{thread_count};
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&] {
      gate.arrive_and_wait();
      for (int i = 0; i < 2000; ++i) {
        const auto thing = pool.take();
        if (++thing->users != 1) ++shared;
        --thing->users;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(shared == 0);
}
