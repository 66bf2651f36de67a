#include "loader/plan/ring_size.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace feedline::detail {
namespace {

/// Large slots last so long that three, or two, of them overlap as well as four.
constexpr std::size_t usual_ring_bytes = std::size_t{128} << 20;

std::size_t fewest(const ring_size& ring) {
  return ring.wanted_slots == 0 ? fewest_slots : ring.wanted_slots;
}

/// Nothing if it does not fit in 64 bits.
std::optional<std::size_t> total_bytes(const ring_size& ring, std::size_t depth,
                                       std::uint64_t batches) {
  const auto slots = checked_multiply(depth, ring.slot_bytes(batches));
  std::size_t total = 0;
  if (!slots || __builtin_add_overflow(*slots, ring.other_bytes(batches), &total))
    return std::nullopt;
  return total;
}

bool fits(const ring_size& ring, std::size_t depth, std::uint64_t batches) {
  const auto total = total_bytes(ring, depth, batches);
  return total && *total <= ring.budget;
}

/// The most batches from `fewest` to `most` with which the ring fits; it fits with `fewest`.
std::uint64_t largest_fitting(const ring_size& ring, std::size_t depth, std::uint64_t fewest,
                              std::uint64_t most) {
  while (fewest < most) {
    const std::uint64_t middle = fewest + divide_up<std::uint64_t>(most - fewest, 2);
    if (fits(ring, depth, middle)) {
      fewest = middle;
    } else {
      most = middle - 1;
    }
  }
  return fewest;
}

}  // namespace

std::uint64_t batches_within(const ring_size& ring, std::uint64_t batches, bool batches_fixed) {
  if (ring.budget == 0) return batches;
  const std::uint64_t needed = batches_fixed ? batches : 1;
  const std::size_t deepest = ring.wanted_slots == 0 ? usual_slots : ring.wanted_slots;
  for (std::size_t depth = deepest; depth >= fewest(ring); --depth) {
    if (fits(ring, depth, needed)) return largest_fitting(ring, depth, needed, batches);
  }
  const auto total = total_bytes(ring, fewest(ring), needed);
  const std::size_t other = ring.other_bytes(needed);
  const std::string besides = other == 0 ? "" : " and " + std::to_string(other) + " bytes besides";
  throw usage_error{std::string{ring.option} + " is " + std::to_string(ring.budget) +
                    " bytes, but " + std::to_string(fewest(ring)) + " slots of " +
                    std::to_string(ring.slot_bytes(needed)) + " bytes" + besides + " need " +
                    (total ? std::to_string(*total) : "more than 2^64") + ": raise it" +
                    (ring.holds_batches
                         ? std::string{", or lower batch_size"} +
                               (batches_fixed ? ", batches_per_slot" : "") +
                               (ring.wanted_slots == 0 ? "" : " or the number of slots")
                     : ring.wanted_slots == 0 ? ""
                                              : ", or lower the number of slots")};
}

std::size_t depth_of(const ring_size& ring, std::uint64_t batches) {
  if (ring.wanted_slots != 0) return ring.wanted_slots;
  const std::size_t slot_bytes = ring.slot_bytes(batches);
  const std::size_t depth = std::clamp(usual_ring_bytes / slot_bytes, fewest_slots, usual_slots);
  if (ring.budget == 0) return depth;
  return std::clamp(slots_within(ring, batches), fewest_slots, depth);
}

std::size_t slots_within(const ring_size& ring, std::uint64_t batches) {
  return (ring.budget - ring.other_bytes(batches)) / ring.slot_bytes(batches);
}

}  // namespace feedline::detail
