#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace feedline::detail {

/// Depths that rings have unless the user or a budget says otherwise.
inline constexpr std::size_t fewest_slots = 2;
inline constexpr std::size_t usual_slots = 4;

/// A ring that is to fit a budget.
struct ring_size {
  const char* option;        ///< the budget's name, for the message
  std::size_t budget;        ///< 0: none
  std::size_t wanted_slots;  ///< 0: automatic
  /// Bytes of one slot of so many batches.
  std::function<std::size_t(std::uint64_t batches)> slot_bytes;
  /// Bytes that the same budget pays besides, with slots of so many batches.
  std::function<std::size_t(std::uint64_t batches)> other_bytes = [](std::uint64_t) {
    return std::size_t{0};
  };
  bool holds_batches =
      true;  ///< a smaller batch makes slots smaller; false if a slot holds a sample
};

/// The most batches a slot may hold for the ring to fit its budget: slots become smaller first,
/// since a shallow ring overlaps less, and fewer only when one batch a slot is still too much.
/// @param batches       Without a budget.
/// @param batches_fixed The number is the user's: it is not lowered.
/// @throws usage_error saying how many bytes would be needed.
[[nodiscard]] std::uint64_t batches_within(const ring_size& ring, std::uint64_t batches,
                                           bool batches_fixed);

/// The number of slots of so many batches: as wanted, or as many as fit, up to `usual_slots`, or
/// fewer, but two at least, if so many would take more than 128 MiB.
[[nodiscard]] std::size_t depth_of(const ring_size& ring, std::uint64_t batches);

}  // namespace feedline::detail
