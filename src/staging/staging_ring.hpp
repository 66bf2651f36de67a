#pragma once

#include <feedline/device/device.hpp>
#include <feedline/index.hpp>

#include "detail/channel.hpp"
#include "device/owned.hpp"
#include "staging/staging_slot.hpp"
#include "statistics/stage_clock.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The ring of staging slots: who may write which one, and which comes next. `staging_slot.hpp` has
/// the state table.
///
/// One allocation, made at construction, freed when the last owner lets go and every copy from it
/// is done. Threads: at each function.
class staging_ring {
 public:
  /// @throws out_of_memory, device_error.
  staging_ring(device_ptr device, std::size_t slots, std::size_t slot_bytes);
  staging_ring(const staging_ring&) = delete;
  staging_ring& operator=(const staging_ring&) = delete;
  /// Blocks until no copy reads the ring any more.
  ~staging_ring();

  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }
  [[nodiscard]] staging_slot& operator[](slot_index slot) noexcept { return *slots_[slot.value]; }

  /// Claims a slot that nobody uses; blocks until there is one, and until its copy is done. Nothing
  /// once closed, whatever the device does. If the copy failed, the slot is lost and the device's
  /// exception thrown. Slot scheduler.
  /// @param clock The caller's, here and below; null: nothing is measured.
  [[nodiscard]] std::optional<slot_index> claim(stage_clock* clock = nullptr);
  /// Lets so many slots go round; the others, once free, are kept back. At first all go round.
  /// Any thread.
  /// @param slots Of `size()`, at least 1.
  void circulate(std::size_t slots) noexcept {
    circulating_.store(slots);
    recycled_.wake_all();
  }
  [[nodiscard]] std::size_t circulating() const noexcept { return circulating_.load(); }

  /// free → filling: gives the slot its work. From here on it stands in line for the transfer.
  /// Slot scheduler.
  void open(slot_index slot, slot_work work);

  /// No slot will be opened any more: the transfer gets those in line, then nothing. May be said
  /// again: the first failure stays. Slot scheduler.
  /// @param why Nothing if there is simply no more to open.
  void end_opening(std::optional<failure> why) {
    opening_failure_.report(std::move(why));
    opened_.close();
  }

  /// Counts a request of the slot as done; filling → filled with the last: then true. Readers.
  /// @param clock As above: it has seen the request's end, and counts the slot.
  bool finish_request(slot_index slot, stage_clock* clock = nullptr);

  /// The slot next in ticket order, once it is filled; blocks. While blocks that are ahead are not
  /// read, slots pass them that need none of them nor bring others. Nothing after the last one
  /// opened, and once closed. Transfer.
  [[nodiscard]] std::optional<slot_index> next_filled(stage_clock* clock = nullptr);
  /// After `next_filled` gave nothing: why opening ended, if it failed. Transfer.
  [[nodiscard]] std::optional<failure> opening_failure() noexcept {
    return opening_failure_.take();
  }
  /// filled → copying, after `copied` was recorded behind the copy. Transfer.
  void recycle_after_copy(slot_index slot) {
    move(slot, staging_state::filled, staging_state::copying);
    recycled_.push(slot);
  }
  /// filled → lent: the consumer reads the slot in place. Transfer.
  void lend(slot_index slot) { move(slot, staging_state::filled, staging_state::lent); }
  /// filled or lent → free: nobody reads the slot any more. Transfer, or whoever destroys the
  /// consumer's last batch.
  void recycle(slot_index slot);

  /// Blocks until `ready()`, asked again after every slot that is recycled, or the ring is closed;
  /// false at the deadline. Consumer.
  template <class Ready>
  bool wait_for_recycled(Ready&& ready, std::chrono::steady_clock::time_point deadline) {
    return recycled_.wait_until(ready, deadline);
  }

  /// How many slots with blocks that are ahead stand in line. Any thread.
  [[nodiscard]] std::size_t ahead() const noexcept { return ahead_.load(); }

  /// Lets who waits there look again. Any thread.
  void wake_all() noexcept { recycled_.wake_all(); }
  /// How many slots are in a state. Any thread.
  [[nodiscard]] std::size_t count(staging_state state) const noexcept;
  /// "2 filled, 1 copying, 1 free": how many slots are in which state. Any thread.
  [[nodiscard]] std::string states() const;

  /// Wakes everyone who waits here; no slot is claimed, and none waited for, any more. Any thread.
  void close() noexcept {
    recycled_.close();
    opened_.close();
    filled_.ring_all();
  }

 private:
  void move(slot_index slot, staging_state from, staging_state to);
  /// What `next_filled` gives, if it is there.
  [[nodiscard]] std::optional<slot_index> try_next_filled();
  /// A slot that nobody uses, if one is there and may go round.
  [[nodiscard]] std::optional<slot_index> try_claim();

  device_ptr device_;
  device_memory memory_;
  std::vector<std::unique_ptr<staging_slot>> slots_;
  channel<slot_index> recycled_;          ///< free or copying, unclaimed
  std::atomic<std::size_t> circulating_;  ///< slots that may go round
  std::vector<slot_index> kept_back_;     ///< claimed so that they don't. The slot scheduler's
  spsc_channel<slot_index>
      opened_;  ///< filling or filled, in ticket order; slot schedulers take turns under their lock
  std::vector<slot_index> line_;       ///< taken from there, not given out. The transfer's
  std::atomic<std::size_t> ahead_{0};  ///< slots that are ahead, in either
  doorbell filled_;                    ///< rung when a slot becomes filled
  failure_board
      opening_failure_;  ///< `close` may let the transfer in while slot schedulers still write
};

}  // namespace feedline::detail
