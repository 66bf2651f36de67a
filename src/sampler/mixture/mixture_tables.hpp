#pragma once

#include <feedline/sampler/scheduled_mixture.hpp>

#include "sampler/draws.hpp"
#include "sampler/ranked.hpp"

#include <cstdint>
#include <vector>

namespace feedline::detail {

/// Positions from one point of a schedule to the next. Positions are those of all epochs, one after
/// the other.
///
/// Positions belong to two sequences: one with the proportions of the beginning, and, if weights
/// change, one with those of the end, whose density rises from 0 to 1. The second one has ⌊i² /
/// 2n⌋ of the first i of n positions. Both spread the parts evenly, as `locate` does.
struct mixture_stretch {
  std::uint64_t begin = 0;
  std::uint64_t length = 0;                ///< 0: endless; then `starting` repeats
  std::vector<std::uint64_t> before = {};  ///< positions of each part before the stretch
  /// For each part, the positions of all parts before it in the sequence of the beginning; then the
  /// sequence's length.
  std::vector<std::uint64_t> starting = {};
  std::vector<std::uint64_t> ending = {};  ///< the same of the end; empty if weights do not change

  /// Positions of the sequence of the end among the first `places`, at most `length`.
  [[nodiscard]] std::uint64_t of_end(std::uint64_t places) const noexcept {
    if (ending.empty()) return 0;
    return static_cast<std::uint64_t>(u128{places} * places / (u128{2} * length));
  }
  /// The part at an offset, with its rank among all its positions since the first epoch.
  [[nodiscard]] ranked at(u128 offset) const noexcept;
  /// Positions that a part has before an offset, since the first epoch; modulo 2^64.
  [[nodiscard]] std::uint64_t count(std::uint64_t part, u128 offset) const noexcept;
};

/// The content of a `scheduled_mixture`.
struct mixture_tables {
  mixture_tables(const std::vector<std::uint64_t>& sizes, const std::vector<mixture_point>& points,
                 const scheduled_mixture_options& options);

  /// The stretch that has a position.
  [[nodiscard]] const mixture_stretch& stretch_at(u128 place) const noexcept;
  [[nodiscard]] std::size_t parts() const noexcept { return starts.size() - 1; }

  std::uint64_t seed;
  std::uint64_t epoch_size;
  mixture_change change;
  std::vector<std::uint64_t> starts;                ///< each part's first sample, then the end
  std::vector<std::vector<std::uint64_t>> weights;  ///< one list a point, in 2^-62
  std::vector<mixture_stretch> stretches;           ///< one a point; the last one is endless
  std::uint64_t identity = 0;
};

}  // namespace feedline::detail
