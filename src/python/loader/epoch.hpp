#pragma once

#include <feedline/deadline_error.hpp>
#include <feedline/loader/epoch_range.hpp>

#include "python/loader/batch.hpp"
#include "python/loader/core.hpp"

#include <chrono>
#include <optional>

namespace feedline::python {

/// An epoch's batches, as Python's iterator. Keeps the loader.
class epoch_object {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  epoch_object(const core_ref& core, epoch_range range, std::uint64_t number, std::uint64_t batches)
      : core_{core.share()}, range_{std::move(range)}, number_{number}, batches_{batches} {}
  epoch_object(const epoch_object&) = delete;
  epoch_object& operator=(const epoch_object&) = delete;
  /// Abandons the rest of the epoch.
  ~epoch_object();

  /// The next batch, or nothing at the end. Waits without the interpreter's lock, and looks for
  /// signals (Ctrl-C) ten times a second, also while it waits for a deadline.
  /// @throws deadline_error; nb::python_error of a signal's handler; as `epoch_range::next`.
  [[nodiscard]] std::optional<batch_object> next(time_point deadline);

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// How many batches it has in all, those that were taken included.
  [[nodiscard]] std::uint64_t batches() const noexcept { return batches_; }

 private:
  [[nodiscard]] optional_batch try_next();
  [[nodiscard]] optional_batch wait_until(time_point deadline);
  void warn_of_held_batches(const deadline_error& late, time_point now);

  core_ref core_;
  std::optional<epoch_range> range_;
  std::uint64_t number_;
  std::uint64_t batches_;
  // Guarded by the interpreter's lock.
  std::optional<time_point> waits_for_others_since_;
  bool warned_ = false;
};

}  // namespace feedline::python
