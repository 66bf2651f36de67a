#pragma once

#include <feedline/deadline_error.hpp>

#include "support/checks/catch.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace feedline::test {

/// A call that misses its deadline: its message, and its delay in the best of some tries. In one
/// try the machine may be busy with something else.
/// @param call Is given the deadline.
struct overshoot {
  template <class Call>
  explicit overshoot(Call&& call) {
    for (int i = 0; i < 5; ++i) {
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
      try {
        (void)call(deadline);
        FAIL("a batch came that could not");
      } catch (const deadline_error& error) {
        const auto late = std::chrono::steady_clock::now() - deadline;
        CHECK(late.count() >= 0);
        least = std::min(least, late);
        where = error.where();
        longest = std::max(longest, std::chrono::steady_clock::duration{where.waited});
        message = error.what();
      }
    }
  }

  std::chrono::steady_clock::duration least = std::chrono::hours{1};
  /// Longest time that a call says it has waited: at times a thread is held up before it waits.
  std::chrono::steady_clock::duration longest{0};
  awaited_batch where;
  std::string message;
};

}  // namespace feedline::test
