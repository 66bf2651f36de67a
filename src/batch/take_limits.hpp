#pragma once

#include <chrono>
#include <stop_token>

namespace feedline::detail {

/// How long the consumer waits for a batch.
struct take_limits {
  using time_point = std::chrono::steady_clock::time_point;

  time_point deadline = time_point::max();  ///< the largest: none
  std::stop_token stop = {};                ///< asked: it does not wait any more

  [[nodiscard]] bool has_deadline() const noexcept { return deadline != time_point::max(); }
  [[nodiscard]] bool over() const noexcept {
    return has_deadline() && std::chrono::steady_clock::now() >= deadline;
  }
};

}  // namespace feedline::detail
