#pragma once

#include <feedline/index.hpp>

#include "batch/device_ring.hpp"
#include "reader/epoch_schedule.hpp"
#include "reader/sample_replacer.hpp"
#include "reader/slot_mixer.hpp"
#include "staging/host_rows.hpp"
#include "staging/staging_ring.hpp"
#include "statistics/stage_clock.hpp"
#include "transfer/slot_transfer.hpp"

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace feedline::detail {

/// Moves filled staging slots into device slots, in ticket order. One staging slot fills one device
/// slot; a batch larger than a staging slot is moved in several pieces and delivered after the
/// last.
///
/// Its slot transfer issues the copies: it orders them after the last use of the device slot,
/// records the events that the consumer and the staging ring wait for, and returns. Before that,
/// the transfer's thread waits for a while until the consumer is done with the slot, so that
/// none of its streams has to wait for the consumer's. A slot that cannot be delivered whole is
/// delivered with its failure, which has no effect unless the consumer comes to it. But then
/// nothing more of its epoch pass is moved, and nothing of a later one until this one is abandoned:
/// a device or a user's function that has failed is not called again before the consumer knows.
/// Threads: one, the transfer's; with zero readers the consumer's.
class transfer {
 public:
  static constexpr std::chrono::seconds usual_wait{1};

  /// @param slot_transfer Null where slots are read in place.
  /// @param replacer Null where samples that cannot be read end the epoch. Borrowed.
  /// @param mixer Null where samples are not mixed, or not in place. Borrowed.
  /// @param longest_wait Limit of the wait for a release, before a device slot is filled; 0 where
  ///                     the consumer's thread runs the transfer.
  /// @param line Tells when an epoch pass that failed is abandoned. Borrowed. Null where the
  ///             consumer's thread runs the transfer: it takes a slot before the next is moved.
  /// @param host Rows in a staging slot that the host keeps.
  transfer(std::unique_ptr<slot_transfer> slot_transfer, std::shared_ptr<staging_ring> staging,
           std::shared_ptr<device_ring> ring, sample_replacer* replacer = nullptr,
           std::chrono::nanoseconds longest_wait = usual_wait, slot_mixer* mixer = nullptr,
           epoch_schedule* line = nullptr, host_rows host = {})
      : slot_transfer_{std::move(slot_transfer)},
        staging_{std::move(staging)},
        ring_{std::move(ring)},
        replacer_{replacer},
        mixer_{mixer},
        line_{line},
        host_{std::move(host)},
        longest_wait_{longest_wait} {}

  /// Moves the next staging slot; blocks until it is filled and there is room for it. False at the
  /// end: the rings closed, opening failed, or slots were lost. Delivery has then ended with that
  /// failure.
  bool step() noexcept;

  /// Where the transfer's time goes.
  [[nodiscard]] stage_clock& clock() noexcept { return clock_; }
  [[nodiscard]] const stage_clock& clock() const noexcept { return clock_; }
  /// Bytes a second of its fastest copy; 0 while none is known. Any thread, until its slot transfer
  /// is taken.
  [[nodiscard]] double peak_copy_rate() const noexcept {
    return slot_transfer_ ? slot_transfer_->copies().peak() : 0;
  }

  /// Ends the transfer, whose thread has ended: returns its slot transfer, which may have work on
  /// the device.
  [[nodiscard]] std::unique_ptr<slot_transfer> take_slot_transfer() noexcept {
    return std::move(slot_transfer_);
  }

 private:
  /// Whether a slot's content is still wanted. Blocks while an earlier epoch pass has failed and
  /// the consumer does not know yet.
  [[nodiscard]] bool is_wanted(const slot_work& work);
  /// Gets a device slot for so many batches, and waits until the consumer's work with it is done.
  /// False if the ring closed.
  [[nodiscard]] bool acquire(std::uint64_t batches);
  /// Passes the device slot, or the staging slot that serves as one, to the consumer.
  void deliver(slot_index slot);
  /// Adds the good samples of a staging slot to the content, mixes them, and returns their number.
  std::uint64_t add(staging_slot& filled, std::optional<slot_failure> failed);
  /// Moves a staging slot's first samples, or only its blocks, which need no device slot. If the
  /// slot transfer fails and the slots can be used again, the content becomes that failure.
  void carry(staging_slot& from, std::uint64_t samples);
  /// Copies the rows that the host keeps, before the staging slot is given to the device.
  void keep_on_host(const staging_slot& from, device_slot& to, std::uint64_t samples) const;

  std::unique_ptr<slot_transfer> slot_transfer_;
  std::shared_ptr<staging_ring> staging_;
  std::shared_ptr<device_ring> ring_;
  sample_replacer* replacer_;
  slot_mixer* mixer_;
  epoch_schedule* line_;
  host_rows host_;
  std::chrono::nanoseconds longest_wait_;
  std::optional<slot_index> to_;  ///< the device slot that is being filled, or will be next
  slot_content content_ = {};     ///< its content so far
  std::shared_ptr<epoch_pass> failed_pass_;             ///< its failure was delivered
  std::chrono::steady_clock::time_point came_at_ = {};  ///< when its first piece was filled
  stage_clock clock_;
};

}  // namespace feedline::detail
