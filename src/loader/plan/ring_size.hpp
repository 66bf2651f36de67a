#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace feedline::detail {

/// Depths of rings unless the user or a budget says otherwise.
inline constexpr std::size_t fewest_slots = 2;
inline constexpr std::size_t usual_slots = 4;

/// A ring that must fit a budget.
struct ring_size {
  const char* option;        ///< the budget's name, for the message
  std::size_t budget;        ///< 0: none
  std::size_t wanted_slots;  ///< 0: automatic
  /// Bytes of one slot of this many batches.
  std::function<std::size_t(std::uint64_t batches)> slot_bytes;
  /// Other bytes in the same budget, with slots of this many batches.
  std::function<std::size_t(std::uint64_t batches)> other_bytes = [](std::uint64_t) {
    return std::size_t{0};
  };
  bool holds_batches =
      true;  ///< a smaller batch makes slots smaller; false if a slot holds a single sample
};

/// The most batches a slot may hold for the ring to fit its budget: slots become smaller first,
/// because a shallow ring overlaps less, and fewer only if even one batch a slot is too much.
/// @param batches       Number of batches without a budget.
/// @param batches_fixed The user set the number: it is not lowered.
/// @throws usage_error with the number of bytes that would be needed.
[[nodiscard]] std::uint64_t batches_within(const ring_size& ring, std::uint64_t batches,
                                           bool batches_fixed);

/// The number of slots of this many batches: the wanted number, or as many as fit, up to
/// `usual_slots`; fewer, but at least two, if they would take more than 128 MiB.
[[nodiscard]] std::size_t depth_of(const ring_size& ring, std::uint64_t batches);

/// The number of slots of this many batches that fit the budget. @param ring Has one, and fits it.
[[nodiscard]] std::size_t slots_within(const ring_size& ring, std::uint64_t batches);

}  // namespace feedline::detail
