#pragma once

#include <feedline/index.hpp>

#include <algorithm>
#include <cstdint>

namespace feedline::detail {

/// The positions of an epoch's order that one rank takes: from each global batch the part with the
/// rank's number, and from the samples after the whole batches as many as every other rank.
///
/// The rank's samples are numbered from 0. The last numbers may be past the epoch's end: there the
/// epoch's first samples are repeated, so that ranks' batches are equal.
struct epoch_share {
  std::uint64_t positions = 0;  ///< positions of the epoch's order, for all ranks
  std::uint64_t batch_size = 1;
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  std::uint64_t last = 0;  ///< samples of the batch after the whole global ones; 0: there is none

  [[nodiscard]] constexpr std::uint64_t global_batch() const noexcept { return batch_size * world; }
  [[nodiscard]] constexpr std::uint64_t whole_batches() const noexcept {
    return positions / global_batch();
  }
  /// Number of the rank's samples; with `first_repeat`, samples from that number on are repeats.
  [[nodiscard]] constexpr std::uint64_t places() const noexcept {
    return whole_batches() * batch_size + last;
  }
  [[nodiscard]] constexpr std::uint64_t first_repeat() const noexcept {
    const std::uint64_t rest = positions % global_batch();
    return places() - last + std::min(last, rest - std::min(rest, rank * last));
  }

  /// Position in the epoch's order of the rank's sample with a number: less than `positions`, or
  /// past it for a repeat. Samples of one batch have consecutive positions.
  [[nodiscard]] constexpr position at(std::uint64_t place) const noexcept {
    const std::uint64_t batch = place / batch_size;
    const std::uint64_t part = batch < whole_batches() ? batch_size : last;
    return {batch * global_batch() + rank * part + place % batch_size};
  }

  /// Number of the rank's samples before a position of the epoch's order, 0 to `positions`; repeats
  /// come after all positions.
  [[nodiscard]] constexpr std::uint64_t places_before(std::uint64_t position) const noexcept {
    const std::uint64_t batch = std::min(position / global_batch(), whole_batches());
    const std::uint64_t part = batch < whole_batches() ? batch_size : last;
    const std::uint64_t within = position - batch * global_batch();
    return batch * batch_size + std::min(within - std::min(within, rank * part), part);
  }

  /// Whether each number is the position itself.
  [[nodiscard]] constexpr bool is_all() const noexcept {
    return world == 1 && first_repeat() == places();
  }
};

}  // namespace feedline::detail
