#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace feedline::detail {

/// How many batches the next slot takes, where the user leaves it open. A slot's first batch waits
/// for its last, so a slot is to take its readers a few milliseconds, no more: one batch a slot for
/// slow readers, and as many as there is room for where readers are fast, which makes large copies.
///
/// The measure is the time from a slot's opening until its requests are taken and a reader asks for
/// more. Waiting for a free slot or for an epoch is no part of it, so a slow consumer changes
/// nothing; and slots of fewer requests than there are readers are taken at once, so they grow
/// until all readers have work. Owns no clock. Threads: the slot scheduler's.
class slot_growth {
 public:
  using duration = std::chrono::nanoseconds;
  /// A slot that was taken in less may become two ...
  static constexpr duration short_time = std::chrono::milliseconds{1};
  /// ... and one that took more is halved.
  static constexpr duration long_time = std::chrono::milliseconds{4};

  /// @param most Batches that a slot has room for, at least 1.
  explicit slot_growth(std::uint64_t most) noexcept : most_{most} {}

  /// Batches of the next slot.
  /// @param after_pause Nothing was read just before it: its first batch is waited for.
  [[nodiscard]] std::uint64_t next(bool after_pause) const noexcept {
    return after_pause ? 1 : size_;
  }

  /// Learns in what time readers took the last slot.
  /// @param batches Its, at least 1 and no more than `next` said.
  void learn(std::uint64_t batches, duration taken_in) noexcept {
    if (taken_in < short_time) {
      size_ = std::max(size_, batches > most_ / 2 ? most_ : 2 * batches);
    } else {
      size_ = taken_in > long_time ? std::max<std::uint64_t>(batches / 2, 1) : batches;
    }
  }

 private:
  std::uint64_t most_;
  std::uint64_t size_ = 1;
};

}  // namespace feedline::detail
