#include "detail/threads.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

using namespace feedline;

TEST_CASE("parallel_for: each number is called once", "[detail][host]") {
  const std::size_t count = GENERATE(0U, 1U, 2U, 1000U);
  std::vector<std::atomic<int>> calls(count);
  detail::parallel_for(count, [&](std::size_t i) { ++calls[i]; });
  CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& times) { return times == 1; }));
}

TEST_CASE("parallel_for: a call's exception is thrown, and no call begins after that is known",
          "[detail][host]") {
  std::atomic<int> calls{0};
  CHECK(test::message_of<std::runtime_error>([&] {
          detail::parallel_for(1'000'000'000, [&](std::size_t i) {
            ++calls;
            if (i == 10) throw std::runtime_error{"ten"};
          });
        }) == "ten");
  CHECK(calls < 1'000'000'000);  // it would take a minute
}
