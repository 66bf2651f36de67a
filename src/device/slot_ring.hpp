#pragma once

#include <feedline/backend/device.hpp>
#include <feedline/index.hpp>

#include "device/leak.hpp"
#include "device/owned.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The common part of the rings of staging slots, device slots and results: slots whose states say
/// which thread may write them, in one allocation. A ring may get further slots later; their memory
/// is not the ring's.
///
/// A transition is one compare-and-exchange. So a transition that a slot's state table does not
/// have is an error, never a race.
/// @tparam Slot Constructed from a device. Has an atomic `state`; `data`; `last_events()`, the
/// events after which no work uses its memory; `lost`, whether issued work is followed by no event;
/// and the constants `name` and `ring_name` for messages.
template <class Slot>
class slot_ring {
 public:
  using slot_state = typename decltype(Slot::state)::value_type;

  slot_ring(const slot_ring&) = delete;
  slot_ring& operator=(const slot_ring&) = delete;

  /// Number of the slots that the ring was made with. Further slots follow them.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Number of further slots. Any thread.
  [[nodiscard]] std::size_t further() const noexcept { return further_.load(); }
  [[nodiscard]] Slot& operator[](slot_index slot) noexcept {
    return *slots_.data()[slot.value];  // reads no size, which `add` changes
  }

  /// How many slots are in a state, with further ones. Any thread.
  [[nodiscard]] std::size_t count(slot_state state) const noexcept {
    return count(state, size_ + further());
  }
  /// The same of those that the ring was made with.
  [[nodiscard]] std::size_t count_own(slot_state state) const noexcept {
    return count(state, size_);
  }

 protected:
  /// @param slot_bytes 0: the ring allocates no memory, and `data` is null.
  /// @throws out_of_memory, device_error.
  slot_ring(device_ptr device, memory_kind kind, std::size_t slots, std::size_t slot_bytes)
      : device_{std::move(device)}, size_{slots} {
    if (slot_bytes != 0) memory_ = device_memory{device_, kind, slots * slot_bytes};
    for (std::size_t i = 0; i < slots; ++i) {
      slots_.push_back(std::make_unique<Slot>(device_));
      if (slot_bytes != 0) slots_.back()->data = memory_.data() + i * slot_bytes;
    }
  }
  ~slot_ring() = default;
  /// Blocks until no work uses the slots any more. If the device does not tell, the memory is never
  /// freed: then false. A ring's destructor calls it first.
  bool wait_for_device() noexcept {
    bool done = true;
    for (const auto& slot : slots_) {
      for (const event_handle last : slot->last_events())
        done = sync_before_freeing(*device_, last, Slot::ring_name) && done;
      done = done && !slot->lost;
    }
    if (!done) leak(memory_, Slot::ring_name);
    return done;
  }

  /// From now on slots can be added while other threads use those that are there.
  void expect_further() { slots_.reserve(size_ + max_further); }
  /// The most further slots.
  static constexpr std::size_t max_further = std::size_t{1} << 17;
  /// Adds a slot without memory, at most `max_further`. One thread at a time.
  /// @throws std::bad_alloc, device_error.
  slot_index add() {
    slots_.push_back(std::make_unique<Slot>(device_));
    further_.store(slots_.size() - size_);
    return slot_index{slots_.size() - 1};
  }

  [[nodiscard]] const device_ptr& device() const noexcept { return device_; }
  [[nodiscard]] const auto& slots() const noexcept { return slots_; }

  /// Makes a transition. @throws std::logic_error if the slot is in another state than `from`.
  void move(slot_index slot, slot_state from, slot_state to) {
    if ((*this)[slot].state.compare_exchange_strong(from, to)) return;
    throw std::logic_error{std::string{"feedline: "} + Slot::name +
                           " made a transition that its table does not know"};
  }

  /// Whether no work uses the slots any more. Any thread.
  [[nodiscard]] bool all_done() const {
    return std::ranges::all_of(slots_, [&](const auto& slot) {
      return std::ranges::all_of(slot->last_events(),
                                 [&](event_handle last) { return device_->is_done(last); });
    });
  }

 private:
  [[nodiscard]] std::size_t count(slot_state state, std::size_t among) const noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < among; ++i)
      found += static_cast<std::size_t>(slots_.data()[i]->state.load() == state);
    return found;
  }

  device_ptr device_;
  device_memory memory_;
  const std::size_t size_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<std::size_t> further_{0};
};

}  // namespace feedline::detail
