#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/dataset/dataset.hpp>
#include <feedline/device/device.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/loader/loader_plan.hpp>
#include <feedline/sampler/sampler.hpp>
#include <feedline/statistics/statistics.hpp>

#include "batch/batch_cursor.hpp"
#include "batch/device_ring.hpp"
#include "detail/failure.hpp"
#include "detail/take_limits.hpp"
#include "detail/thread_group.hpp"
#include "loader/pipeline/activity_recorder.hpp"
#include "loader/pipeline/progress.hpp"
#include "loader/pipeline/slot_strategy.hpp"
#include "loader/pipeline/tuning.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "reader/delays.hpp"
#include "reader/epoch_schedule.hpp"
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
#include <memory>
#include <optional>
#include <vector>

namespace feedline::detail {

/// All stages of one loader, and the threads that drive them: readers and one transfer; or the
/// transfer alone, which then does the readers' little work as well (gather); or none: then the
/// consumer drives them, one request at a time, when it finds nothing ready.
///
/// Threads: the consumer's, but for `stop`.
class pipeline {
 public:
  /// Allocates all memory and starts the threads.
  /// @param plan Resolved from the other parameters.
  pipeline(dataset_ptr dataset, const sampler& sampler, device_ptr device,
           const loader_options& options, resolved_plan plan);
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;
  ~pipeline();

  [[nodiscard]] const loader_plan& plan() const noexcept { return plan_; }
  /// False in a child of fork: there it must be leaked, for its threads are not there to be joined.
  [[nodiscard]] bool belongs_here() const noexcept { return format_->process.is_this(); }

  /// Puts an epoch in line; after a failure, one that never comes. @throws usage_error if the
  /// device cannot use the stream, if the place sought is in another epoch, and in a child of fork.
  [[nodiscard]] std::shared_ptr<epoch_run> claim(std::uint64_t epoch, stream_ref stream) {
    require_own_process();
    device_->check(stream);
    const epoch_place begin = progress_.begin_of(epoch);
    if (pass_failure_) return std::make_shared<epoch_run>(epoch, begin.batch, begin.losses);
    return schedule_.claim(epoch, begin.batch, begin.losses);
  }
  /// The next batch of an epoch, or nothing at its end and after `stop`. Begins the epoch if it is
  /// another than the last. @throws stage_error; deadline_error, after which the next call waits
  /// for the same batch; usage_error in a child of fork.
  [[nodiscard]] std::optional<batch> next(const std::shared_ptr<epoch_run>& run, stream_ref stream,
                                          const take_limits& limits = {});
  /// The same if a batch of the epoch is at hand, in a slot that was taken; never blocks.
  [[nodiscard]] std::optional<batch> deal(const std::shared_ptr<epoch_run>& run) {
    if (!belongs_here() || failed_ || stopped_.load() || cursor_.run() != run) return std::nullopt;
    return deal();
  }
  /// Nobody wants the rest of an epoch.
  void abandon(const std::shared_ptr<epoch_run>& run) {
    schedule_.end(run);
    if (cursor_.run() == run) leave_epoch();
  }

  /// As `loader::state`. @throws usage_error in a child of fork.
  [[nodiscard]] loader_state state() const {
    require_own_process();
    return progress_.state(place());
  }
  /// As `loader::order_digest`. @throws usage_error in a child of fork.
  [[nodiscard]] std::uint64_t order_digest() const {
    require_own_process();
    return progress_.digest();
  }
  /// As `loader::seek`. @throws usage_error, also in a child of fork.
  void seek(const loader_state& to);

  /// As `loader::failures`. @throws usage_error in a child of fork.
  [[nodiscard]] failure_report failures() const {
    require_own_process();
    failure_report report = cursor_.failures();
    report.recovered_reads = source_.recovered_reads();
    return report;
  }

  /// As `loader::statistics`. Any thread.
  [[nodiscard]] loader_statistics statistics() const;
  /// As `loader::trace`. @throws usage_error, also in a child of fork. Any thread.
  [[nodiscard]] feedline::trace trace() const {
    require_own_process();
    return activities_.snapshot();
  }

  /// How long `next` waits where batches are held in every slot. Consumer, before `next`.
  struct wait_limits {
    /// Until it refuses, if only its own thread has had to do with batches so far: who holds them
    /// is then the caller itself, or another that has not got to them yet.
    std::chrono::milliseconds before_refusal = std::chrono::seconds{2};
    /// Until it tells the log, if other threads end batches. And for how long destruction waits
    /// for threads, until it tells the log.
    std::chrono::milliseconds before_warning = std::chrono::seconds{10};
  };
  void set(wait_limits limits) noexcept { limits_ = limits; }
  /// As `tuning::search_eagerly`, where it is tuned. Consumer, before `next`.
  void tune_eagerly() noexcept {
    if (tuning_) tuning_->search_eagerly();
  }

  /// Ends everything: all threads end by themselves, ranges end at their next step. Any thread;
  /// blocks for nothing. Does nothing in a child of fork.
  void stop() noexcept;
  /// Stops and waits for the threads; for `leave_reads_after` at most, if there is a limit and an
  /// owner to leave to those that have not ended.
  void shut_down(const std::shared_ptr<pipeline>& owner = nullptr) noexcept;

 private:
  void require_own_process() const;
  /// Behind the last batch that the consumer took, or behind the epoch whose end it has seen.
  [[nodiscard]] epoch_place place() const noexcept {
    const auto& run = cursor_.run();
    if (!run) return progress_.place();
    if (run->ended) return {run->epoch + 1, 0};
    return {run->epoch, run->first_batch + cursor_.dealt(), cursor_.losses()};
  }
  /// The next batch of the slot at hand.
  [[nodiscard]] std::optional<batch> deal() {
    auto dealt = cursor_.deal();
    if (dealt) {
      consumer_.count_batches(1);
      consumer_.count_samples(dealt->size());
    }
    return dealt;
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
  /// `next_slot` where the device decodes blocks: waits until the slot's are decoded, too. A batch
  /// that misses one becomes the slot's failure. What was not decoded in time is left for the next
  /// call.
  [[nodiscard]] std::optional<slot_index> next_decoded(const take_limits& limits);
  /// False if the stop was asked for before. @throws deadline_error.
  [[nodiscard]] bool await_decoded(slot_index slot, const take_limits& limits);
  /// Whether the device tells which sample of a slot misses its block.
  [[nodiscard]] bool is_checked(const device_slot& taken) const;
  void drop_undecoded(slot_index slot);
  /// Why a sample of a slot misses its block: reading it on the CPU says why, as if the CPU had
  /// decoded it at once, or what reading its block threw, or nothing but the device is to blame.
  [[nodiscard]] failure failure_of(const slot_work& work, std::uint64_t bad);
  void accept(slot_index slot);
  /// Behind each slot that was taken.
  void tune() noexcept;
  /// Ends an epoch pass for a failure that the consumer has come to, after all good batches. All
  /// that is in line is abandoned; threads and slots wait for a seek.
  [[noreturn]] void fail_pass(failure why);
  /// Ends everything for a failure after which no slot can be delivered.
  [[noreturn]] void fail(std::optional<failure> why);
  /// Before the next slot is taken. @throws usage_error if its stream is captured.
  void check_capture(stream_ref stream);
  [[nodiscard]] bool is_capturing(stream_ref stream);
  /// Fills a request, and moves the slot that it ends: what readers and transfer do, by one thread.
  /// False as `transfer::step`.
  [[nodiscard]] bool advance();
  [[nodiscard]] bool fill_request();
  /// Nothing once nothing comes any more, or the stop was asked for. @throws deadline_error.
  [[nodiscard]] std::optional<slot_index> next_slot(const take_limits& limits);
  /// The same, where there is none yet. False at the deadline.
  [[nodiscard]] bool wait_for_slot(std::optional<slot_index>& slot, const take_limits& limits);
  /// Blocks while batches are held in every slot, or until the stop was asked for; false at the
  /// deadline. @throws usage_error where none but the caller can end that.
  [[nodiscard]] bool await_room(const take_limits& limits);
  /// What is read now, in words, and the sample that delivery waits for as far as it is known;
  /// empty: nothing is read.
  [[nodiscard]] std::pair<std::string, std::optional<std::uint64_t>> reads_now() const;
  /// @throws deadline_error always.
  [[noreturn]] void miss_deadline(std::chrono::steady_clock::time_point began) const;
  /// False if they took too long.
  [[nodiscard]] bool wait_for_threads(bool may_leave);

  reader_turns& turns_;  ///< the process's
  const resolved_plan resolved_;
  const loader_plan& plan_ = resolved_.report;
  activity_recorder activities_;
  const device_ptr device_;  ///< whose work is traced, if that is wanted
  const std::shared_ptr<const batch_format> format_;
  const std::shared_ptr<failure_board> failures_;
  const std::shared_ptr<staging_ring> staging_;
  const std::shared_ptr<device_ring> ring_;
  sample_source source_;
  slot_strategy strategy_;
  progress progress_;
  epoch_schedule schedule_;
  slot_scheduler slot_scheduler_;
  read_ahead read_ahead_;
  request_executor request_executor_;
  std::optional<tuning> tuning_;
  std::vector<reader_scratch> scratch_;  ///< one a reader; the first is of who calls `advance`
  transfer transfer_;
  stage_clock consumer_;
  std::atomic<std::uint64_t> waits_{0};  ///< of the consumer, for a slot
  const std::chrono::steady_clock::time_point made_at_ = std::chrono::steady_clock::now();
  const unsigned cores_ = usable_cores();
  const unsigned quota_cores_ = quota_cores("/").value_or(0);
  const bool chunked_;
  batch_cursor cursor_;
  std::optional<slot_index> decoding_;  ///< taken, but its blocks may not be decoded yet
  /// The consumer has met it, and meets it again at every step, until it seeks.
  std::optional<failure> pass_failure_;
  /// Delivery has ended: the consumer has met the board's failure, and meets it at every step.
  bool failed_ = false;
  wait_limits limits_;
  bool warned_ = false;  ///< that consumers hold batches in every slot
  std::atomic<bool> stopped_{false};
  const std::chrono::milliseconds leave_reads_after_;
  thread_group threads_;
};

}  // namespace feedline::detail
