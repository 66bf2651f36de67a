#pragma once

#include <feedline/error.hpp>

#include <exception>
#include <mutex>
#include <optional>
#include <utility>

namespace feedline::detail {

/// Why an epoch cannot continue, and where it failed.
struct failure {
  stage_location where;
  std::exception_ptr cause;
};

/// Where a failure is left for other threads: the first one stays. Any thread.
class failure_table {
 public:
  /// Puts up a failure, unless there is one; nothing is no failure. Allocates nothing, so it works
  /// when memory is exhausted.
  void report(std::optional<failure> why) noexcept {
    const std::scoped_lock lock{mutex_};
    if (!failure_) failure_ = std::move(why);
  }

  [[nodiscard]] std::optional<failure> take() noexcept {
    const std::scoped_lock lock{mutex_};
    return std::exchange(failure_, std::nullopt);
  }

  /// @throws stage_error if there is a failure; each time.
  void rethrow() const {
    const std::scoped_lock lock{mutex_};
    if (failure_) throw stage_error{failure_->where, failure_->cause};
  }

 private:
  mutable std::mutex mutex_;
  std::optional<failure> failure_;
};

}  // namespace feedline::detail
