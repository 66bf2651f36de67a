#pragma once

#include <feedline/index.hpp>

#include <algorithm>
#include <cstdint>

namespace feedline::detail {

/// Which positions of an epoch's order one rank takes: of each global batch the part of its number,
/// and of what is left behind the whole ones as much as every other rank.
///
/// A *place* counts what the rank takes, from 0. Places at the rank's end may stand behind the
/// epoch's end: there the epoch's first samples come again, so that ranks' batches are equal.
struct epoch_share {
  std::uint64_t positions = 0;  ///< of the epoch's order, for all ranks
  std::uint64_t batch_size = 1;
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  std::uint64_t last = 0;  ///< samples of the batch behind the whole global ones; 0: there is none

  [[nodiscard]] constexpr std::uint64_t global_batch() const noexcept { return batch_size * world; }
  [[nodiscard]] constexpr std::uint64_t whole_batches() const noexcept {
    return positions / global_batch();
  }
  /// Places of the rank; with `first_repeat`, the one from which on samples come again.
  [[nodiscard]] constexpr std::uint64_t places() const noexcept {
    return whole_batches() * batch_size + last;
  }
  [[nodiscard]] constexpr std::uint64_t first_repeat() const noexcept {
    const std::uint64_t rest = positions % global_batch();
    return places() - last + std::min(last, rest - std::min(rest, rank * last));
  }

  /// Where in the epoch's order a place stands: less than `positions`, or behind it for a repeat.
  /// Places of one batch stand one behind the other.
  [[nodiscard]] constexpr position at(std::uint64_t place) const noexcept {
    const std::uint64_t batch = place / batch_size;
    const std::uint64_t part = batch < whole_batches() ? batch_size : last;
    return {batch * global_batch() + rank * part + place % batch_size};
  }

  /// How many places of the rank stand before a position of the epoch's order, 0 to `positions`;
  /// places of repeats stand behind all.
  [[nodiscard]] constexpr std::uint64_t places_before(std::uint64_t position) const noexcept {
    const std::uint64_t batch = std::min(position / global_batch(), whole_batches());
    const std::uint64_t part = batch < whole_batches() ? batch_size : last;
    const std::uint64_t within = position - batch * global_batch();
    return batch * batch_size + std::min(within - std::min(within, rank * part), part);
  }

  /// Whether each place is the position itself.
  [[nodiscard]] constexpr bool is_all() const noexcept {
    return world == 1 && first_repeat() == places();
  }
};

}  // namespace feedline::detail
