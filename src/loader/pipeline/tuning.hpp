#pragma once

#include <feedline/loader/loader_plan.hpp>
#include <feedline/statistics/statistics.hpp>

#include "loader/pipeline/activity_recorder.hpp"
#include "loader/pipeline/tuner.hpp"
#include "reader/active_readers.hpp"
#include "staging/staging_ring.hpp"
#include "statistics/stage_clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace feedline::detail {

/// Tunes a loader while it works: divides the consumer's time into windows, gives their
/// measurements to a `tuner`, and applies the number of readers and staging slots that it returns.
///
/// It has no thread: the consumer calls it at each slot that it takes. After a change it skips as
/// many slots as circulate, because these were begun before the change. Threads: the consumer's,
/// except for `look`.
class tuning {
 public:
  /// Applies the plan's initial setting. Borrows everything but the plan for its life.
  /// @param recorder Records each setting.
  tuning(const loader_plan& plan, active_readers& readers, staging_ring& staging,
         activity_recorder& recorder);

  /// For tests: windows of any length, in which the consumer counts as waiting all the time. So
  /// settings change, however fast the machine is. Call it before the first slot.
  void search_eagerly() noexcept { eager_ = true; }

  /// A slot was taken: whether it ends a window; then call `learn`.
  [[nodiscard]] bool ends_window(const stage_clock& consumer) noexcept;
  /// @param now Statistics of the loader.
  void learn(loader_statistics now) noexcept;

  /// The consumer is about to wait for a slot, and holds batches in this many staging slots: if no
  /// other slot circulates, more do from now on.
  void make_room(std::size_t held) noexcept;

  /// Any thread.
  [[nodiscard]] tuning_statistics look() const;

 private:
  void apply() noexcept;

  active_readers& readers_;
  staging_ring& staging_;
  activity_recorder& recorder_;
  const tuner::setting most_;
  const std::uint64_t window_batches_;
  bool eager_ = false;

  // The consumer's.
  bool measuring_ = false;   ///< else slots begun before the last change are still passing
  std::uint64_t slots_ = 0;  ///< number of them that have passed
  std::uint64_t wanted_slots_;
  std::size_t held_ = 0;  ///< staging slots that circulate whatever is chosen
  std::uint64_t began_batches_ = 0;
  std::chrono::nanoseconds began_time_{};
  loader_statistics began_ = {};

  mutable std::mutex mutex_;  ///< guards what other threads look at; only the consumer writes it
  tuner tuner_;
  std::uint64_t searched_batches_ = 0;
};

}  // namespace feedline::detail
