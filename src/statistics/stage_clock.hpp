#pragma once

#include <feedline/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The activities of a pipeline's thread.
enum class activity : std::uint8_t {
  idle,      ///< it has no part in the work: not started, ended, between epochs
  busy,      ///< reader: reads; transfer: issues copies; consumer: uses batches
  starved,   ///< waits for input: a request, a filled piece, a batch
  stalled,   ///< waits for room: a free piece, a device slot, the end of a batch
  copy_wait  ///< reader: waits for the last copy out of the piece that it will fill
};
inline constexpr std::size_t activities = 5;

/// A time that a thread spent in one activity.
struct activity_span {
  feedline::stage stage;  ///< stage of the thread: reader, transfer, or batch for the consumer
  unsigned lane;          ///< index of the thread in its stage
  activity what;
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
  std::uint64_t epoch;    ///< epoch that the thread worked for last
  std::uint64_t batch;    ///< first batch of the last request, piece or slot
  std::uint32_t batches;  ///< in which it has a part
};

/// Hears of every change: a recorder of traces. Called by all threads of the pipeline, several at
/// once; blocks for nothing.
class activity_listener {
 public:
  activity_listener() = default;
  activity_listener(const activity_listener&) = delete;
  activity_listener& operator=(const activity_listener&) = delete;
  virtual ~activity_listener() = default;
  /// @param ended May be idle. @param next The thread's activity from now on, maybe the same.
  virtual void on_activity(const activity_span& ended, activity next) noexcept = 0;
};

/// Adds to a counter that one thread writes and all may read: no locked instruction.
inline void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// The counts of one stage_clock at one moment.
struct stage_totals {
  std::array<std::chrono::nanoseconds, activities> time = {};
  std::uint64_t batches = 0;
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
  std::uint64_t slots = 0;  ///< slots whose latency was measured
  std::chrono::nanoseconds latency = {};
  std::chrono::nanoseconds max_latency = {};
};

/// Counts where the time of one thread of the pipeline goes, and how much the thread has done.
///
/// The clock of the system is read when the activity changes, and once a request, piece or slot
/// (`lap`). Times add up: for each activity there is a sum, and for the current activity the
/// sum that would make the present moment zero, so a snapshot has the time that is still running
/// too. All of it is atomic with one writer. Threads: `look` by any, the rest by the thread
/// measured.
class alignas(64) stage_clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Call it before the thread is started. @param listener Null: none.
  void name(feedline::stage stage, unsigned lane, activity_listener* listener = nullptr) noexcept {
    stage_ = stage;
    lane_ = lane;
    listener_ = listener;
  }

  /// Ends the current activity and begins another.
  void enter(activity next, time_point now = std::chrono::steady_clock::now()) noexcept {
    const std::uint64_t at = nanoseconds(now);
    sum(now_).store(at - base_, std::memory_order_relaxed);
    if (listener_ != nullptr)
      listener_->on_activity({stage_, lane_, now_, since_, now, epoch_, batch_, batches_worked_},
                             next);
    now_ = next;
    since_ = now;
    base_ = at - sum(next).load(std::memory_order_relaxed);
    running_.store(base_ << activity_bits | static_cast<std::uint64_t>(next),
                   std::memory_order_release);
  }
  /// Ends a span and begins the next one of the same activity: a request, a piece or a slot is
  /// done.
  void lap(time_point now = std::chrono::steady_clock::now()) noexcept { enter(now_, now); }
  /// Sets the work that the thread does from now on.
  void at(std::uint64_t epoch, std::uint64_t batch, std::uint64_t batches = 1) noexcept {
    epoch_ = epoch;
    batch_ = batch;
    batches_worked_ = static_cast<std::uint32_t>(batches);
  }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] std::uint64_t batch() const noexcept { return batch_; }
  [[nodiscard]] std::uint32_t batches() const noexcept { return batches_worked_; }

  [[nodiscard]] activity now() const noexcept { return now_; }
  /// When the current span began.
  [[nodiscard]] time_point since() const noexcept { return since_; }

  void count_batches(std::uint64_t more) noexcept { add(batches_, more); }
  void count_samples(std::uint64_t more) noexcept { add(samples_, more); }
  void count_bytes(std::uint64_t more) noexcept { add(bytes_, more); }
  /// A slot has passed the stage. @param began When it came there.
  void count_slot(time_point began, time_point ended) noexcept {
    const std::uint64_t took = nanoseconds(std::max(began, ended)) - nanoseconds(began);
    add(slots_, 1);
    add(latency_, took);
    if (took > max_latency_.load(std::memory_order_relaxed))
      max_latency_.store(took, std::memory_order_relaxed);
  }

  /// Any thread.
  [[nodiscard]] stage_totals look(
      time_point now = std::chrono::steady_clock::now()) const noexcept {
    const std::uint64_t running = running_.load(std::memory_order_acquire);
    stage_totals seen;
    for (std::size_t i = 0; i < activities; ++i)
      seen.time[i] = std::chrono::nanoseconds{sums_[i].load(std::memory_order_relaxed)};
    const std::uint64_t base = running >> activity_bits;
    seen.time.at(running & activity_mask) =
        std::chrono::nanoseconds{std::max(nanoseconds(now), base) - base};
    seen.batches = batches_.load(std::memory_order_relaxed);
    seen.samples = samples_.load(std::memory_order_relaxed);
    seen.bytes = bytes_.load(std::memory_order_relaxed);
    seen.slots = slots_.load(std::memory_order_relaxed);
    seen.latency = std::chrono::nanoseconds{latency_.load(std::memory_order_relaxed)};
    seen.max_latency = std::chrono::nanoseconds{max_latency_.load(std::memory_order_relaxed)};
    return seen;
  }

 private:
  static constexpr unsigned activity_bits = 3;
  static constexpr std::uint64_t activity_mask = 7;

  static std::uint64_t nanoseconds(time_point at) noexcept {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
  }
  std::atomic<std::uint64_t>& sum(activity of) noexcept {
    return sums_[static_cast<std::size_t>(of)];
  }

  // The thread's own.
  feedline::stage stage_ = stage::reader;
  unsigned lane_ = 0;
  activity_listener* listener_ = nullptr;
  activity now_ = activity::idle;
  time_point since_ = std::chrono::steady_clock::now();
  std::uint64_t base_ = nanoseconds(since_);
  std::uint64_t epoch_ = 0;
  std::uint64_t batch_ = 0;
  std::uint32_t batches_worked_ = 0;

  // For others to see.
  std::atomic<std::uint64_t> running_{base_ << activity_bits};  ///< `base_`, and `now_` below it
  std::array<std::atomic<std::uint64_t>, activities> sums_{};   ///< nanoseconds
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> samples_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> slots_{0};
  std::atomic<std::uint64_t> latency_{0};
  std::atomic<std::uint64_t> max_latency_{0};
};

/// An activity from construction to destruction; then the thread continues with the one before.
class in_activity {
 public:
  /// @param clock Null: nothing is measured.
  in_activity(stage_clock* clock, activity what) noexcept
      : clock_{clock}, before_{clock == nullptr ? activity::idle : clock->now()} {
    if (clock_ != nullptr) clock_->enter(what);
  }
  in_activity(const in_activity&) = delete;
  in_activity& operator=(const in_activity&) = delete;
  ~in_activity() {
    if (clock_ != nullptr) clock_->enter(before_);
  }

 private:
  stage_clock* clock_;
  activity before_;
};

}  // namespace feedline::detail
