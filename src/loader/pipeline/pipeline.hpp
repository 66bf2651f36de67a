// Over 250 lines: one class, whose members are all that the threads of a loader share.

#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/batch/batch.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/statistics/statistics.hpp>

#include "batch/batch_cursor.hpp"
#include "batch/device_ring.hpp"
#include "batch/take_limits.hpp"
#include "detail/failure.hpp"
#include "detail/thread_group.hpp"
#include "io/far_reads.hpp"
#include "loader/pipeline/activity_recorder.hpp"
#include "loader/pipeline/progress.hpp"
#include "loader/pipeline/slot_strategy.hpp"
#include "loader/pipeline/tuning.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "reader/batch_sizer.hpp"
#include "reader/delays.hpp"
#include "reader/epoch_schedule.hpp"
#include "reader/loader_forecast.hpp"
#include "reader/reader_turns.hpp"
#include "reader/request_executor.hpp"
#include "reader/sample_source.hpp"
#include "reader/slot_scheduler.hpp"
#include "staging/staging_ring.hpp"
#include "statistics/stage_clock.hpp"
#include "transfer/transfer.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// All stages of one loader, and the threads that drive them: readers and one transfer; or the
/// transfer alone, which then also does the readers' little work (gather); or none: then the
/// consumer drives them, one request at a time, when it finds nothing ready.
///
/// Threads: the consumer's, except for `stop`.
class pipeline {
 public:
  /// Allocates all memory and starts the threads.
  /// @param plan Resolved from the other parameters.
  pipeline(dataset_ptr dataset, device_ptr device, const loader_options& options,
           resolved_plan plan);
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline();

  [[nodiscard]] const loader_plan& plan() const noexcept { return plan_; }
  /// False in a child of fork: there it must be leaked, because its threads do not exist there and
  /// cannot be joined.
  [[nodiscard]] bool belongs_here() const noexcept { return format_->process.is_this(); }

  /// Puts an epoch in line; after a failure it never comes. @throws usage_error if the device
  /// cannot use the stream, if the last seek was to another epoch, and in a child of fork.
  [[nodiscard]] std::shared_ptr<epoch_pass> claim(std::uint64_t epoch, stream_ref stream) {
    require_own_process();
    device_->check(stream);
    const epoch_place begin = progress_.begin_of(epoch);
    if (pass_failure_) return std::make_shared<epoch_pass>(epoch, begin.batch, begin.losses);
    return schedule_.claim(epoch, begin.batch, begin.losses);
  }
  /// The next batch of an epoch, or nothing at its end and after `stop`. Begins the epoch if it
  /// differs from the last one. @throws stage_error; deadline_error, after which the next call
  /// waits for the same batch; usage_error in a child of fork.
  [[nodiscard]] optional_lease<batch> next(const std::shared_ptr<epoch_pass>& pass,
                                           stream_ref stream, const take_limits& limits = {});
  /// The same if the current slot has a batch of the epoch; never blocks.
  [[nodiscard]] optional_lease<batch> hand_out(const std::shared_ptr<epoch_pass>& pass) {
    if (!belongs_here() || failed_ || stopped_.load() || cursor_.pass() != pass)
      return std::nullopt;
    return hand_out();
  }
  /// The rest of an epoch is not wanted any more.
  void abandon(const std::shared_ptr<epoch_pass>& pass) {
    schedule_.end(pass);
    if (cursor_.pass() == pass) leave_epoch();
  }

  /// Same as `loader::state`. @throws usage_error in a child of fork.
  [[nodiscard]] loader_state state() const {
    require_own_process();
    return progress_.state(place());
  }
  /// Same as `loader::order_digest`. @throws usage_error in a child of fork.
  [[nodiscard]] std::uint64_t order_digest() const {
    require_own_process();
    return progress_.digest();
  }
  /// Same as `loader::seek`. @throws usage_error, also in a child of fork.
  void seek(const loader_state& to);

  /// Same as `loader::failures`. @throws usage_error in a child of fork.
  [[nodiscard]] failure_report failures() const {
    require_own_process();
    failure_report report = cursor_.failures();
    report.recovered_reads = source_.recovered_reads();
    return report;
  }

  /// Same as `loader::statistics`, without downloads. Any thread.
  [[nodiscard]] loader_statistics statistics() const;
  /// Same as `loader::statistics`. Any thread.
  [[nodiscard]] loader_statistics statistics_with_downloads() const;
  /// Same as `loader::plan_downloads`. Any thread.
  [[nodiscard]] download_plan plan_downloads() const;
  /// Same as `loader::trace`. @throws usage_error, also in a child of fork. Any thread.
  [[nodiscard]] feedline::trace trace() const {
    require_own_process();
    return activities_.snapshot();
  }

  /// Limits how long `next` waits if batches are held in every slot. Consumer, before `next`.
  struct wait_limits {
    /// Wait until an exception is thrown, if only the consumer's thread has used batches so far:
    /// then the caller itself holds them, or another thread that has not used them yet.
    std::chrono::milliseconds before_refusal = std::chrono::seconds{2};
    /// Wait until a warning is logged, if other threads end batches. Also how long destruction
    /// waits for threads before it logs a warning.
    std::chrono::milliseconds before_warning = std::chrono::seconds{10};
  };
  void set(wait_limits limits) noexcept { limits_ = limits; }
  /// Same as `tuning::search_eagerly`, if the loader is tuned. Consumer, before `next`.
  void tune_eagerly() noexcept {
    if (tuning_) tuning_->search_eagerly();
  }

  /// Ends everything: all threads end by themselves, ranges end at their next step. Any thread;
  /// never blocks. Does nothing in a child of fork.
  void stop() noexcept;
  /// Same as `loader::end_within`.
  bool end_within(std::chrono::milliseconds limit) noexcept;
  /// Stops, and waits for the threads; at most `leave_reads_after`, if there is a limit and an
  /// owner that threads still running can keep.
  void shut_down(const std::shared_ptr<pipeline>& owner = nullptr) noexcept;

 private:
  /// A plan, and the epoch that was read when it was computed.
  struct known_downloads {
    std::uint64_t epoch = 0;
    download_plan plan = {};
  };

  void require_own_process() const;
  [[nodiscard]] std::uint64_t epoch_of_downloads() const noexcept;
  /// After the last batch that the consumer took, or after the epoch whose end it has seen.
  [[nodiscard]] epoch_place place() const noexcept {
    const auto& pass = cursor_.pass();
    if (!pass) return progress_.place();
    if (pass->ended) return {pass->epoch + 1, 0};
    return {pass->epoch, pass->first_batch + cursor_.handed_out(), cursor_.losses()};
  }
  /// The next batch, if the current slot has one.
  [[nodiscard]] optional_lease<batch> hand_out() {
    optional_lease<batch> handed_out = cursor_.hand_out();
    if (handed_out) {
      if (reading_.source() != nullptr) reading_.source()->handed_out(cursor_.pass());
      consumer_.count_batches(1);
      consumer_.count_samples(handed_out->size());
      for (std::size_t i = 0; sizer_ && i < handed_out->field_count(); ++i)
        consumer_.count_bytes(handed_out->field_at(i).bytes().size());
    }
    return handed_out;
  }
  void leave_epoch() {
    consumer_.enter(activity::idle);
    activities_.leave_epoch();
    progress_.leave(place());
    cursor_.begin(nullptr, {});
  }
  void close() noexcept;
  void start_threads();
  void drive_reader(int number);
  void drive_transfer();
  /// `next_slot` where the device decodes blocks: waits until the slot's blocks are decoded, too. A
  /// batch with a missing block becomes the slot's failure. A slot that was not decoded in time is
  /// left for the next call.
  [[nodiscard]] std::optional<slot_index> next_decoded(const take_limits& limits);
  /// False if a stop was requested before. @throws deadline_error.
  [[nodiscard]] bool await_decoded(slot_index slot, const take_limits& limits);
  /// Begins an epoch that is not the cursor's. @throws usage_error if it was abandoned.
  void begin(const std::shared_ptr<epoch_pass>& pass, stream_ref stream);
  /// Called after each slot that was taken.
  void tune() noexcept;
  /// Ends an epoch pass for a failure that the consumer has reached, after all good batches.
  /// Everything in line is abandoned; threads and slots wait for a seek.
  [[noreturn]] void fail_pass(failure why);
  /// Ends everything for a failure after which no slot can be delivered.
  [[noreturn]] void fail(std::optional<failure> why);
  /// Called before the next slot is taken. @throws usage_error if its stream is under capture.
  void check_capture(stream_ref stream);
  [[nodiscard]] bool is_capturing(stream_ref stream);
  /// Fills a request, and moves the slot that it completes: the work of readers and transfer in one
  /// thread. False like `transfer::step`.
  [[nodiscard]] bool advance();
  /// Returns nothing at the end, or if a stop was requested. @throws deadline_error.
  [[nodiscard]] std::optional<slot_index> next_slot(const take_limits& limits);
  /// The same if there is no slot yet. False at the deadline.
  [[nodiscard]] bool wait_for_slot(std::optional<slot_index>& slot, const take_limits& limits);
  /// Adds a slot if batches are held in every slot, or blocks until one is free or a stop was
  /// requested; false at the deadline. @throws usage_error if only the caller can free one.
  [[nodiscard]] bool await_room(const take_limits& limits);
  /// The same without adding one. @param why_not Why none was added; empty: none may be.
  [[nodiscard]] bool await_end_of_batch(const take_limits& limits, const std::string& why_not);
  /// The first time that a slot was added.
  void warn_of_held();
  /// The current reads, with the transfer's. The sample is the one that delivery waits for.
  [[nodiscard]] delayed_reads reads_now() const;
  /// @throws deadline_error always.
  [[noreturn]] void miss_deadline(std::chrono::steady_clock::time_point began) const;
  /// False if they took too long.
  [[nodiscard]] bool wait_for_threads(bool may_leave);
  /// Logs what the threads do that were waited for; `left`: and are not waited for any longer.
  void tell_of_threads(std::chrono::nanoseconds waited, bool left) const noexcept;

  reader_turns& turns_;  ///< the process's own
  const resolved_plan resolved_;
  const loader_plan& plan_ = resolved_.report;
  activity_recorder activities_;
  const device_ptr device_;  ///< a tracing device if a trace is wanted
  const std::shared_ptr<const batch_format> format_;
  const std::shared_ptr<failure_table> failures_;
  const std::shared_ptr<staging_ring> staging_;
  const std::shared_ptr<device_ring> ring_;
  sample_source source_;
  live_reading reading_;
  const std::unique_ptr<batch_sizer> sizer_;  ///< null where all batches have one size
  slot_strategy strategy_;
  progress progress_;
  epoch_schedule schedule_;
  slot_scheduler slot_scheduler_;
  read_ahead read_ahead_;
  const std::uint64_t number_of_loader_ = next_loader();
  held_forecast forecast_;
  mutable std::mutex downloads_mutex_;                     ///< for `downloads_`
  mutable std::optional<known_downloads> downloads_ = {};  ///< the last that was computed
  request_executor request_executor_;
  std::optional<tuning> tuning_;
  std::vector<reader_scratch> scratch_;  ///< one a reader; the first is used by the thread that
                                         ///< calls `advance`
  transfer transfer_;
  stage_clock consumer_;
  std::atomic<std::uint64_t> waits_{0};  ///< number of the consumer's waits for a slot
  const std::chrono::steady_clock::time_point made_at_ = std::chrono::steady_clock::now();
  const unsigned cores_ = usable_cores();
  const unsigned quota_cores_ = quota_cores("/").value_or(0);
  const bool chunked_;
  batch_cursor cursor_;
  /// Delivery has ended: the consumer has got the recorded failure, and gets it at every step.
  std::optional<failure> pass_failure_;
  /// Delivery has ended: the consumer has got the failure of the table, and gets it at every step.
  bool failed_ = false;
  wait_limits limits_;
  bool warned_ = false;          ///< a warning was logged that batches are held in every slot
  bool warned_of_held_ = false;  ///< there was a warning that slots are added
  const std::function<void(const std::string&)> held_warning_;
  std::atomic<bool> stopped_{false};
  const std::chrono::milliseconds leave_reads_after_;
  /// When `end_within` was first called: threads that still run are left after it.
  std::optional<std::chrono::steady_clock::time_point> ending_since_;
  bool waited_for_end_ = false;  ///< more than not at all
  bool warned_of_end_ = false;
  thread_group threads_;
};

}  // namespace feedline::detail
