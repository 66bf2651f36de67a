#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/batch/batch.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>
#include <feedline/statistics/statistics.hpp>

#include "batch/consumer_thread.hpp"
#include "batch/device_slot.hpp"
#include "batch/exposed_time.hpp"
#include "batch/take_limits.hpp"
#include "detail/channel.hpp"
#include "detail/failure.hpp"
#include "detail/own_process.hpp"
#include "device/deferred_free.hpp"
#include "device/further_memory.hpp"
#include "device/slot_ring.hpp"
#include "staging/host_rows.hpp"
#include "staging/slot_layout.hpp"
#include "staging/staging_ring.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The properties of batches besides their slot: shared, constant.
struct batch_format {
  slot_layout layout;
  feedline::sampler sampler;
  std::uint64_t dataset_samples = 0;
  std::uint64_t first_repeat = UINT64_MAX;  ///< index of an epoch's first repeated sample, in
                                            ///< order of delivery
  own_process process = {};                 ///< the process that made the loader
  host_rows host = {};  ///< rows that the host keeps: in memory of each slot for
                        ///< them, unless slots are read in place
};

/// Limits of the memory that a ring may allocate for batches that are kept.
struct growth_limits {
  bool allowed = false;         ///< else it has no further slots
  std::size_t max_bytes = 0;    ///< bytes of further slots; 0: a quarter of what is free
  std::size_t left = SIZE_MAX;  ///< bytes that another option leaves for them
  const char* left_by = "";     ///< name of that option
};

/// The ring of device slots, and the leases on them. `device_slot.hpp` has the state table.
///
/// Batches keep it alive, so it keeps alive everything that they point to. Its memory is freed when
/// every event on it is done.
///
/// If batches are held in every slot, it may get further slots (`grow`), one by one. One of them at
/// a time is not leased yet; that one circulates like the ring's own. When its batches have ended
/// it becomes spare: its memory is freed as soon as the work with them is done.
///
/// Threads: at each function.
class device_ring final : public slot_ring<device_slot>,
                          public deferred_free,
                          public std::enable_shared_from_this<device_ring> {
 public:
  /// A ring with memory of its own, or, with 0 slots, one over the staging ring's.
  /// @throws out_of_memory, device_error.
  device_ring(device_ptr device, std::shared_ptr<staging_ring> staging,
              std::shared_ptr<const batch_format> format, std::shared_ptr<failure_table> failures,
              std::size_t slots, growth_limits limits = {});
  /// Blocks until neither a copy nor the consumer's work uses the ring any more.
  ~device_ring() override;

  [[nodiscard]] const batch_format& format() const noexcept { return *format_; }
  /// Whether slots are staging slots, read in place.
  [[nodiscard]] bool in_place() const noexcept { return in_place_; }

  /// A free slot; blocks until there is one. Nothing once closed. Transfer.
  /// @param clock The caller's; null: nothing is measured. @param batches Room that it needs.
  /// @throws out_of_memory, device_error if a further slot has too little room, and gets no more.
  [[nodiscard]] std::optional<slot_index> acquire(stage_clock* clock = nullptr,
                                                  std::uint64_t batches = 1);
  /// Blocks until the consumer's stream is done with the previous content of a free slot, and notes
  /// whether it had to wait. So no stream of the loader's has to wait for the consumer, which would
  /// slow the consumer's kernels. The work that fills the slot waits on its stream in any case.
  /// This wait ends at a deadline, because the consumer's work may itself wait for a batch; after
  /// one timeout it does not wait again until the consumer is in time once. It also ends when the
  /// ring closes. Transfer.
  /// @param at_most 0: does not wait, only notes. @param clock The caller's clock; null: nothing is
  /// measured. @throws device_error
  void wait_until_released(slot_index slot, std::chrono::nanoseconds at_most,
                           stage_clock* clock = nullptr);
  /// free → filled, after `ready` was recorded: the consumer may take it. Transfer.
  /// @param now Time of the delivery.
  void deliver(slot_index slot, slot_content content,
               std::chrono::steady_clock::time_point now = {});
  /// Ends delivery: the consumer gets what was delivered, then nothing. Transfer.
  /// @param why Nothing if there is simply no more to deliver.
  void end_delivery(std::optional<failure> why = {}) noexcept {
    end_failure_.report(std::move(why));
    ready_.close();
  }

  /// A filled slot in ticket order, if there is one. Consumer.
  [[nodiscard]] std::optional<slot_index> try_take() { return ready_.try_pop(); }
  /// The same; blocks until there is one. Nothing once delivery ended or the ring was closed, and
  /// everything delivered is taken. Consumer.
  [[nodiscard]] std::optional<slot_index> take() { return ready_.pop(); }
  /// The same, but nothing if a stop was requested; false at the deadline. Consumer.
  [[nodiscard]] bool take(std::optional<slot_index>& slot, const take_limits& limits);
  /// After `take` returned nothing: why delivery ended, if the transfer failed. Consumer.
  [[nodiscard]] std::optional<failure> end_failure() noexcept { return end_failure_.take(); }
  /// filled → free: it is not wanted. Consumer.
  void discard(slot_index slot);
  /// filled → leased, held by the cursor: `stream` waits for the copy. Consumer. @throws
  /// device_error.
  void lease(slot_index slot, stream_ref stream);
  /// A lease on batch number `place` of a slot that the cursor holds. Consumer.
  [[nodiscard]] batch lease_batch(slot_index slot, std::uint64_t place);
  /// The cursor hands out no more of a slot: leased → free if none of its batches is held. Uses no
  /// stream. Consumer.
  void let_go(slot_index slot) noexcept {
    if ((*this)[slot].leases.let_go()) end_use(slot);
  }
  /// Ends a batch's lease. The last one marks the consumer's stream, and then leased → free unless
  /// the cursor still holds the slot. Any thread. A stream under capture cannot be marked: then the
  /// slot stays leased, postponed.
  void end_lease(slot_index slot) noexcept;
  void end_lease(const leased_batch& ended) noexcept { end_lease(ended.slot); }
  /// A held batch is used on a stream besides the consumer's; it waits for the work issued to the
  /// consumer's. If it is the consumer's stream, nothing is done and false returned. Any thread.
  /// @throws usage_error, device_error.
  bool begin_use_on(slot_index slot, stream_ref stream);
  /// Marks the stream of such a use, before the batch's lease ends; if it is under capture, later,
  /// as in `end_lease`. Any thread. @param begun_by The thread that named it.
  void end_use_on(slot_index slot, stream_ref stream, std::thread::id begun_by) noexcept;
  /// Frees the postponed slots whose streams are not under capture any more, and the memory of
  /// spare slots whose work is done. Returns how many postponed ones are left. Any thread.
  std::size_t end_postponed() noexcept;

  /// Whether every event on the ring is done, and no slot is postponed. Any thread.
  [[nodiscard]] bool is_idle() override;

  /// The device that has the slots' memory.
  [[nodiscard]] device_id id() const noexcept { return id_; }
  /// How long the consumer's stream waits for slots. Null where they are read in place.
  [[nodiscard]] exposed_time* exposed() noexcept { return exposed_ ? &*exposed_ : nullptr; }

  /// The threads that take and use batches.
  [[nodiscard]] consumer_thread& users() noexcept { return users_; }
  /// The calling thread moves or reads a batch.
  void touched() noexcept { users_.touches(); }
  /// False in a child of fork.
  [[nodiscard]] bool is_own_process() const noexcept { return format_->process.is_this(); }
  /// Whether batches are held in every slot, so that none can be delivered before one of these is
  /// freed. False once closed. Consumer.
  [[nodiscard]] bool all_leased() const noexcept;
  /// Blocks until that no longer holds, a further slot has become spare since the last `grow`, or a
  /// stop was requested; false at the deadline. Consumer.
  bool wait_for_room(const take_limits& limits);
  /// While batches are held in every slot: adds a further slot, with memory for the next batches.
  /// Blocks while the device allocates. Consumer.
  /// @param why_not If false is returned: what prevents it; empty if there are no further slots.
  [[nodiscard]] bool grow(std::string& why_not);
  [[nodiscard]] bool may_grow() const noexcept { return limits_.allowed; }
  /// Bytes that further slots may have at a time, and where that is from. Consumer.
  /// @throws device_error
  [[nodiscard]] std::pair<std::size_t, std::string> growth_limit() const;
  /// Any thread.
  [[nodiscard]] held_statistics held_memory() const;
  /// Wakes the consumer waiting here, to check whether a stop was requested. Any thread.
  void wake_consumer() noexcept {
    ready_.wake_all();
    in_place_ ? staging_->wake_all() : free_.wake_all();
  }
  /// How many batches are held in which slots, as text. Any thread.
  [[nodiscard]] std::string held_batches() const;

  /// Wakes all threads waiting here; no slot can be acquired any more. Any thread.
  void close() noexcept {
    free_.close();
    ready_.close();
  }

 private:
  void recycle(slot_index slot);
  [[nodiscard]] stream_ref as_named_here(stream_ref stream, std::thread::id named_by) const;
  [[nodiscard]] stream_ref consumers_stream(const device_slot& leased) const {
    return as_named_here(leased.stream, leased.leased_by);
  }
  void mark_released(device_slot& leased) noexcept;
  void postpone_mark(device_slot& leased);
  void report(const device_slot& leased) noexcept;
  void end_use(slot_index slot) noexcept;
  void end_further(slot_index slot);
  void free_spare(bool all = false) noexcept;
  [[nodiscard]] std::optional<slot_index> take_done(bool all) noexcept;
  [[nodiscard]] bool is_further(slot_index slot) const noexcept { return slot.value >= size(); }
  [[nodiscard]] std::size_t next_bytes();
  [[nodiscard]] std::optional<slot_index> spare_slot(std::size_t room);
  [[nodiscard]] std::optional<slot_index> new_slot(std::size_t bytes, std::string& why_not);
  /// A spare slot without memory; nothing if there are the most further slots.
  [[nodiscard]] std::optional<slot_index> empty_slot();
  void put_empty(slot_index slot) noexcept;
  void count_unfinished() noexcept {
    unfinished_.store(postponed_.size() + spare_.size());  // under the lock
  }
  [[nodiscard]] std::optional<slot_index> take_postponed() noexcept;

  device_ptr untraced_;  ///< the device, without its trace
  device_id id_;
  std::shared_ptr<staging_ring> staging_;
  std::shared_ptr<const batch_format> format_;
  std::shared_ptr<failure_table> failures_;
  bool in_place_;
  consumer_thread users_;
  std::optional<exposed_time> exposed_;
  bool gave_up_ = false;            ///< the last wait for a release; the transfer's
  channel<slot_index> free_;        ///< batches may end on any thread
  spsc_channel<slot_index> ready_;  ///< filled, in ticket order
  failure_table end_failure_;       ///< `close` may let the consumer read while the transfer writes
  mutable std::mutex unfinished_mutex_;
  std::vector<slot_index> postponed_;       ///< leased, but held by no thread
  std::vector<slot_index> spare_;           ///< spare, with memory
  std::vector<slot_index> empty_;           ///< spare, without memory
  std::atomic<std::size_t> unfinished_{0};  ///< number of the first two kinds

  const growth_limits limits_;
  const std::shared_ptr<further_memory> further_;  ///< null: there are no further slots
  std::optional<slot_index> last_added_;           ///< a further slot. The consumer's
  std::atomic<std::uint64_t> added_{0};
  std::atomic<std::uint64_t> ended_further_{0};  ///< how often one became spare
  std::uint64_t seen_ended_ = 0;                 ///< the same before the last `grow`
};

}  // namespace feedline::detail
