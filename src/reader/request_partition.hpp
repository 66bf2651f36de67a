#pragma once

#include "staging/device_row_cache.hpp"
#include "staging/request_layout.hpp"
#include "staging/slot_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace feedline::detail {

/// Chooses how the next slot is cut: by the size of its rows while they may have to be read, and
/// coarsely once the device holds them all, when readers only write down where they are. Slot
/// scheduler.
class request_partition {
 public:
  /// @param kept Null where no rows are cached.
  explicit request_partition(const slot_plan& plan,
                             std::shared_ptr<const device_row_cache> cached = nullptr)
      : reading_{plan},
        numbering_{plan.batch_size, numbered_samples(plan)},
        cached_{std::move(cached)} {}

  [[nodiscard]] request_layout next() const { return rows_are_read() ? reading_ : numbering_; }
  /// Some row may still have to be read; else a slot is made in microseconds, however large.
  [[nodiscard]] bool rows_are_read() const noexcept { return !cached_ || !cached_->holds_all(); }
  /// Requests of a slot of so many samples, however it is cut.
  [[nodiscard]] std::uint64_t max_requests(std::uint64_t samples) const noexcept {
    return std::max(reading_.requests(samples), numbering_.requests(samples));
  }

 private:
  /// Whole batches, some ten microseconds of work, and never more requests than rows' sizes make;
  /// all of a slot where nobody shares it.
  static std::uint64_t numbered_samples(const slot_plan& plan) noexcept {
    const std::uint64_t slot = plan.batches_per_slot * plan.batch_size;
    if (plan.readers == 0) return slot;
    return std::max({plan.batch_size, plan.request_samples, std::uint64_t{2048}});
  }

  request_layout reading_;
  request_layout numbering_;
  std::shared_ptr<const device_row_cache> cached_;
};

}  // namespace feedline::detail
