#pragma once

#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace feedline::detail {

struct epoch_pass;
struct slot_work;
struct staging_slot;

/// The blocks of a dataset that a slot carries besides samples, as they are stored, for the device
/// to decode. The room `decoding` makes them; the other rooms know only this much. Written when the
/// slot is opened.
class slot_blocks {
 public:
  slot_blocks() = default;
  slot_blocks(const slot_blocks&) = delete;
  slot_blocks& operator=(const slot_blocks&) = delete;
  virtual ~slot_blocks() = default;

  /// Number of requests that read blocks. They follow the slot's requests for samples.
  [[nodiscard]] virtual std::uint32_t requests() const noexcept = 0;
  /// Does one of these requests. A block that cannot be read is marked as missing, and reported
  /// where its samples are. Any number of readers, on different requests.
  virtual void read(staging_slot& slot, std::uint32_t number) const noexcept = 0;
  /// A position that needs a request's block, for messages about delayed reads.
  [[nodiscard]] virtual position needed_at(std::uint32_t number) const noexcept = 0;

  /// Whether the slot has only blocks, for later tickets: slots that do not need them may pass it.
  [[nodiscard]] virtual bool is_ahead() const noexcept = 0;
  /// Whether the slot may pass one that is ahead, belongs to the same epoch pass, and stands before
  /// it in line.
  [[nodiscard]] virtual bool may_pass(const slot_blocks& ahead) const noexcept = 0;
};

/// Adds blocks to the slots that readers open. Threads: the slot scheduler's.
class block_feed {
 public:
  block_feed() = default;
  block_feed(const block_feed&) = delete;
  block_feed& operator=(const block_feed&) = delete;
  virtual ~block_feed() = default;

  /// The most requests of a slot that are blocks.
  [[nodiscard]] virtual std::size_t max_requests() const noexcept = 0;
  /// Begins a ticket. @param begins_pass It is the first of the epoch pass. @param first, end
  /// Positions of its samples.
  virtual void begin(const epoch_pass& pass, bool begins_pass, position first, position end) = 0;
  /// Adds blocks that the ticket's samples need to `work.blocks`.
  /// @param slot Claimed, not open yet.
  /// @return Whether all of them have been sent with this slot. If not, it must carry no samples.
  [[nodiscard]] virtual bool add(staging_slot& slot, slot_work& work) = 0;
  /// Whether a further slot should carry blocks for later tickets, after the ticket's own slots.
  /// @param circulating Number of staging slots in use.
  [[nodiscard]] virtual bool wants_slot(std::size_t circulating) = 0;
  /// Adds such blocks, at least one. Only if `wants_slot`.
  virtual void add_ahead(staging_slot& slot, slot_work& work) = 0;
};

}  // namespace feedline::detail
