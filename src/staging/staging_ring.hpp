#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/index.hpp>

#include "detail/channel.hpp"
#include "device/further_memory.hpp"
#include "device/slot_ring.hpp"
#include "staging/staging_slot.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The ring of staging slots: which thread may write which one, and which comes next.
/// `staging_slot.hpp` has the state table.
///
/// One allocation, made at construction. It is freed when the last owner releases it and every copy
/// from it is done. Where the consumer reads slots in place, further ones can be added, of which
/// one at a time circulates and is not read yet. Threads: at each function.
class staging_ring : public slot_ring<staging_slot> {
 public:
  /// @throws out_of_memory, device_error.
  staging_ring(device_ptr device, std::size_t slots, std::size_t slot_bytes);
  /// Blocks until no copy reads the ring any more.
  ~staging_ring() { wait_for_device(); }

  /// Claims an unused slot; blocks until there is one and its copy is done. Returns nothing once
  /// closed, whatever the device does. If the copy failed, the slot is lost and the device's
  /// exception is thrown. Slot scheduler.
  /// @param clock The caller's, here and below; null: nothing is measured.
  [[nodiscard]] std::optional<slot_index> claim(stage_clock* clock = nullptr);
  /// Sets how many slots circulate; the others are withheld once free. At first all circulate. Any
  /// thread.
  /// @param slots At least 1, at most `size()`.
  void circulate(std::size_t slots) noexcept {
    circulating_.store(slots);
    recycled_.wake_all();
  }
  [[nodiscard]] std::size_t circulating() const noexcept { return circulating_.load(); }

  /// free → filling: gives the slot its work. From now on it is in line for the transfer. Slot
  /// scheduler.
  void open(slot_index slot, slot_work work);

  /// Ends opening: the transfer gets the slots in line, then nothing. May be called again: the
  /// first failure stays. Slot scheduler.
  /// @param why Nothing if there is simply no more to open.
  void end_opening(std::optional<failure> why) {
    opening_failure_.report(std::move(why));
    opened_.close();
  }

  /// Counts a request of the slot as done; filling → filled with the last: then true. Readers.
  /// @param clock The caller's clock, which has already noted the request's end; it counts the
  /// slot.
  bool finish_request(slot_index slot, stage_clock* clock = nullptr);

  /// The next slot in ticket order, once it is filled; blocks. While a slot with blocks that are
  /// ahead is not filled, slots that neither need nor carry such blocks pass it. Returns nothing
  /// after the last one opened, and once closed. Transfer.
  [[nodiscard]] std::optional<slot_index> next_filled(stage_clock* clock = nullptr);
  /// After `next_filled` returned nothing: why opening ended, if it failed. Transfer.
  [[nodiscard]] std::optional<failure> opening_failure() noexcept {
    return opening_failure_.take();
  }
  /// filled → copying, after `copied` was recorded following the copy. Transfer.
  void recycle_after_copy(slot_index slot) {
    move(slot, staging_state::filled, staging_state::copying);
    recycled_.push(slot);
  }
  /// filled → leased: the consumer reads the slot in place. Transfer.
  void lease(slot_index slot) { move(slot, staging_state::filled, staging_state::leased); }
  /// filled or leased → free: the slot has no reader any more. Transfer, or the thread that
  /// destroys the consumer's last batch.
  void recycle(slot_index slot);

  /// Blocks until `ready()` holds, which is checked again after each recycled slot, or until the
  /// ring is closed; false at the deadline. Consumer.
  template <class Ready>
  bool wait_for_recycled(Ready&& ready, std::chrono::steady_clock::time_point deadline) {
    return recycled_.wait_until(ready, deadline);
  }

  /// From now on further slots can be added, with memory from there. Before threads use the ring.
  /// @param batch_bytes Bytes of a batch in a slot.
  void expect_further(std::shared_ptr<further_memory> memory, std::size_t batch_bytes) {
    slot_ring::expect_further();
    further_memory_ = std::move(memory);
    batch_bytes_ = batch_bytes;
  }
  /// How many slots can be on their way to the transfer at a time.
  [[nodiscard]] std::size_t max_circulating() const noexcept {
    return further_memory_ ? size() + 1 : size();
  }
  using slot_ring::add;  ///< a further slot, which does not circulate. Consumer
  /// A further slot circulates from now on. Consumer.
  void admit(slot_index slot) { recycled_.push(slot); }
  /// leased → free: a further slot has no reader any more, and does not circulate. Any thread.
  void withdraw(slot_index slot) { move(slot, staging_state::leased, staging_state::free); }
  /// Gives a claimed further slot room for so many batches; does nothing for other slots. Slot
  /// scheduler. @throws out_of_memory, device_error.
  void fit(slot_index slot, std::uint64_t batches) {
    if (slot.value < size()) return;
    (*this)[slot].data = further_memory_->fit(slot.value - size(), batches * batch_bytes_);
  }

  /// Wakes threads that wait there, to check again. Any thread.
  void wake_all() noexcept { recycled_.wake_all(); }
  /// "2 filled, 1 copying, 1 free": how many slots are in which state. Any thread.
  [[nodiscard]] std::string states() const;

  /// Wakes all threads that wait here. From then on no slot can be claimed or waited for. Any
  /// thread.
  void close() noexcept {
    recycled_.close();
    opened_.close();
    filled_.notify_all();
  }

 private:
  /// Same as `next_filled`, without blocking.
  [[nodiscard]] std::optional<slot_index> try_next_filled();
  /// An unused slot that may circulate, if there is one.
  [[nodiscard]] std::optional<slot_index> try_claim();

  std::shared_ptr<further_memory> further_memory_;  ///< null: there are no further slots
  std::size_t batch_bytes_ = 0;
  channel<slot_index> recycled_;          ///< free or copying, unclaimed
  std::atomic<std::size_t> circulating_;  ///< slots that may circulate
  std::vector<slot_index> withheld_;      ///< claimed so that they do not circulate. The slot
                                          ///< scheduler's
  spsc_channel<slot_index>
      opened_;  ///< filling or filled, in ticket order; slot schedulers take turns under their lock
  std::vector<slot_index> line_;  ///< taken from there, not given out yet. The transfer's
  notifier filled_;               ///< notified when a slot becomes filled
  failure_table
      opening_failure_;  ///< `close` may let the transfer read while slot schedulers still write
};

}  // namespace feedline::detail
