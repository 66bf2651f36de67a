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

/// Tunes a loader while it works: cuts the consumer's time into windows, has a `tuner` learn from
/// them, and lets so many readers and staging slots work as it says.
///
/// It has no thread: the consumer asks it at each slot that it takes. After a change it lets as
/// many slots pass as go round, which were begun before it. Threads: the consumer's, but for
/// `look`.
class tuning {
 public:
  /// Sets what the plan says to begin with. Borrows all but the plan for its life.
  /// @param recorder Hears of each setting.
  tuning(const loader_plan& plan, active_readers& readers, staging_ring& staging,
         activity_recorder& recorder);

  /// For tests: windows of any length, in which the consumer counts as waiting all the time. So
  /// settings change, however fast the machine is. Before the first slot.
  void search_eagerly() noexcept { eager_ = true; }

  /// A slot was taken: whether it ends a window, so that `learn` is to be called.
  [[nodiscard]] bool ends_window(const stage_clock& consumer) noexcept;
  /// @param now The loader's.
  void learn(loader_statistics now) noexcept;

  /// The consumer is about to wait for a slot, and holds batches in so many staging slots: if that
  /// is all that go round, more do from now on.
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
  bool measuring_ = false;   ///< else what was begun before the last change passes
  std::uint64_t slots_ = 0;  ///< that have passed
  std::uint64_t wanted_slots_;
  std::size_t held_ = 0;  ///< staging slots that go round whatever is chosen
  std::uint64_t began_batches_ = 0;
  std::chrono::nanoseconds began_time_{};
  loader_statistics began_ = {};

  mutable std::mutex mutex_;  ///< of what others look at; the consumer alone writes it
  tuner tuner_;
  std::uint64_t searched_batches_ = 0;
};

}  // namespace feedline::detail
