#pragma once

#include <feedline/device/stream_ref.hpp>

#include "batch/further_streams.hpp"
#include "detail/failure.hpp"
#include "device/owned.hpp"
#include "staging/host_rows.hpp"
#include "staging/slot_repairs.hpp"
#include "staging/staging_slot.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

namespace feedline::detail {

/// Counts the holders of a device slot: batches of it that were handed out and are not ended yet,
/// and the cursor while it may hand out more of them.
///
/// When the last batch ends, the consumer's stream is marked immediately: the consumer may destroy
/// the stream next, even though the cursor still holds the slot. A batch handed out and ended
/// meanwhile would follow the mark. So a thread about to end the last lease marks first, and marks
/// again if any batch was handed out since. It still holds the only lease while it does, so no two
/// threads mark at once.
class slot_leases {
 public:
  /// The cursor takes a slot that has no holder. Consumer.
  void hold() noexcept { word_.store(cursor); }
  /// Hands out a batch of a slot that the cursor holds. Consumer.
  void add() noexcept { word_.fetch_add(one_handed_out + one_batch); }
  /// The cursor hands out no more of them; true if the slot has no holder now. Consumer.
  [[nodiscard]] bool let_go() noexcept { return batches(word_.fetch_and(~cursor)) == 0; }
  /// Ends a batch's lease; true if the slot has no holder now. Any thread.
  /// @param mark Called before the end of the only lease left, so that all work with the slot's
  ///             batches was issued before the last call.
  template <class Mark>
  [[nodiscard]] bool end(Mark mark) {
    std::uint64_t seen = word_.load();
    do {
      if (batches(seen) == 1) mark();
    } while (!word_.compare_exchange_strong(seen, seen - one_batch));
    return batches(seen) == 1 && (seen & cursor) == 0;
  }

  /// Batches that are held now. Any thread.
  [[nodiscard]] std::uint64_t held() const noexcept { return batches(word_.load()); }

 private:
  // The cursor's bit, the batches held, and the count of batches handed out, in one word: it
  // differs if a batch was handed out and ended meanwhile.
  static constexpr std::uint64_t cursor = 1;
  static constexpr std::uint64_t one_batch = 2;
  static constexpr std::uint64_t one_handed_out = std::uint64_t{1} << 32;

  static constexpr std::uint64_t batches(std::uint64_t word) noexcept {
    return (word & (one_handed_out - 1)) >> 1;
  }

  std::atomic<std::uint64_t> word_{0};
};

/// The states of a device slot.
///
/// | from   | to     | who, when                                                                  |
/// | ------ | ------ | -------------------------------------------------------------------------- |
/// | free   | filled | transfer: what fills it waits for `released`, is issued, `ready` recorded; |
/// |        |        | with the ticket's last piece, if it came in several                        |
/// | filled | leased | consumer: its stream waits for `ready`                                     |
/// | leased | free   | any thread: it ends the last lease or, later, the cursor deals no more     |
/// | filled | free   | consumer: the epoch was abandoned, or no batch of the slot is good         |
/// | leased | spare  | any thread: the same as for leased → free, of a further slot               |
/// | spare  | free   | consumer: a further slot comes into use, as batches are held in all others |
///
/// Invariant: between the last batch's end and the next copy's start lies `released`, recorded on
/// the consumer's stream as the batch ends and never later, or after all streams that used the
/// slot's batches; between the copy's end and the consumer's first kernel lies `ready`. Streams
/// wait for both; the transfer's thread waits for `released` too, for a while, so that its streams
/// need not. Where the device reads staging memory, device slot i *is* staging slot i: it owns no
/// memory and no events, and releasing it releases the staging slot. A further slot is spare when
/// it is made. Its memory is allocated before it becomes free, and freed in spare, after
/// `released`.
enum class device_state : std::uint32_t { free, filled, leased, spare };

/// The content of a device slot: whole batches of one ticket, those before its failure if it has
/// one. There may be none if there is a failure, or if the epoch ends before it: then nothing was
/// copied.
struct slot_content : slot_work {
  std::optional<detail::failure> failure = {};  ///< reason why the batch after these cannot be
                                                ///< delivered
  std::shared_ptr<slot_repairs> repairs = {};   ///< changes that an error policy made to it; null:
                                                ///< none
};

/// One slot of the device ring.
struct device_slot {
  static constexpr auto name = "a device slot";
  static constexpr auto ring_name = "a device ring";

  explicit device_slot(const device_ptr& device) : ready{device}, released{device} {}
  [[nodiscard]] std::array<event_handle, 2> last_events() const noexcept {
    return {ready.get(), released.get()};
  }

  std::atomic<device_state> state{device_state::free};
  std::byte* data = nullptr;
  event ready;     ///< recorded after the copy into the slot
  event released;  ///< recorded after the consumer's work on the slot
  /// Issued work on the slot is followed by no event: its memory is never used again, nor freed.
  /// Written by the thread that issued it.
  bool lost = false;
  /// The last batch ended while its stream was under capture: `released` is not recorded yet.
  /// Written by the thread that ends the batch, or that frees the slot later.
  bool unmarked = false;
  /// `released` was not done when the transfer took the slot: the consumer is slower than the
  /// loader. Written by the transfer, in free.
  bool released_late = false;
  /// Rows that the host keeps; batches read them in leased. Written in free → filled, and so are
  /// the next two members.
  host_rows_memory host;
  slot_content content{};
  std::chrono::steady_clock::time_point delivered_at = {};
  stream_ref stream;          ///< the consumer's, written in filled → leased
  std::thread::id leased_by;  ///< the thread that named it; written with it
  slot_leases leases;         ///< holders of the slot in leased
  further_streams further;    ///< other streams that use its batches
};

}  // namespace feedline::detail
