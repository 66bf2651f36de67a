#pragma once

#include <feedline/deadline_error.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/loader/epoch_range.hpp>

#include "python/loader/batch.hpp"
#include "python/loader/core.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <utility>

namespace feedline::python {

/// An epoch's batches, as Python's iterator. Keeps the loader.
class epoch_object {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param loader The object that the core belongs to.
  /// @param used The stream of the range.
  epoch_object(nb::object loader, const core_ref& core, epoch_range range, std::uint64_t number,
               std::uint64_t batches, stream_ref used)
      : loader_{std::move(loader)},
        core_{core.share()},
        number_{number},
        batches_{batches},
        stream_{used} {
    range_.push_back(std::move(range));
  }
  epoch_object(const epoch_object&) = delete;
  epoch_object& operator=(const epoch_object&) = delete;
  /// Abandons the rest of the epoch.
  ~epoch_object() { core_->abandon(std::move(range_)); }

  /// The next batch, or nothing at the end. Waits without the interpreter's lock, and looks for
  /// signals (Ctrl-C) ten times a second, also while it waits for a deadline.
  /// @throws deadline_error; nb::python_error of a signal's handler, or of a read that was ended by
  /// such an exception as KeyboardInterrupt: then the next call reads that batch again; usage_error
  /// if the loader was closed before the epoch's end; as `epoch_range::next`.
  [[nodiscard]] std::optional<batch_object> next(time_point deadline);

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// How many batches it has in all, those that were taken included.
  [[nodiscard]] std::uint64_t batches() const noexcept { return batches_; }
  template <class Function>
  void for_collector(Function&& report) const {
    report(loader_);
  }

 private:
  [[nodiscard]] optional_batch try_next();
  [[nodiscard]] optional_batch wait_until(time_point deadline);
  /// A RuntimeWarning, if the loader has written one.
  void tell_note();
  [[nodiscard]] optional_batch wait_in_turn(time_point deadline);
  /// Lets the epoch continue with the batch that failed. Called in a turn.
  void read_again();
  void require_open() const;
  void warn_of_held_batches(const deadline_error& late, time_point now);

  const nb::object loader_;  ///< for the garbage collector
  core_ref core_;
  std::list<epoch_range> range_;  ///< one; a list's element can be given away without allocating
  std::uint64_t number_;
  std::uint64_t batches_;
  stream_ref stream_;
  // Guarded by the interpreter's lock; by the Python object's own where there is none.
  std::shared_ptr<const field_names> names_;  ///< null before the first batch
  bool ended_ = false;
  std::optional<time_point> waits_for_others_since_;
  bool warned_ = false;
};

}  // namespace feedline::python
