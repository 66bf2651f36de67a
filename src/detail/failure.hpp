#pragma once

#include <feedline/error.hpp>

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace feedline::detail {

/// The one failure of a pipeline: the first put up stays. Any thread.
class failure_board {
 public:
  /// Puts up a failure, unless there is one.
  void report(stage_location where, std::exception_ptr cause) {
    stage_error failure{std::move(where), std::move(cause)};
    const std::scoped_lock lock{mutex_};
    if (!failure_) failure_.emplace(std::move(failure));
  }

  /// @throws stage_error if there is a failure; each time.
  void rethrow() const {
    const std::scoped_lock lock{mutex_};
    if (failure_) throw stage_error{*failure_};
  }

 private:
  mutable std::mutex mutex_;
  std::optional<stage_error> failure_;
};

}  // namespace feedline::detail
