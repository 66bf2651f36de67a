#pragma once

#include "sampler/draws.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace feedline::detail {

/// Divides one number of positions after the other among parts, by weights that may differ. What
/// rounding gives or takes in one division is balanced in the next ones.
class apportionment {
 public:
  /// The sum of weights.
  static constexpr std::uint64_t whole = std::uint64_t{1} << 62U;

  explicit apportionment(std::size_t parts) : owed_(parts, 0) {}

  /// @param weights Their sum is `whole`. @param total Less than 2^63.
  /// @return Counts whose sum is `total`; 0 for weight 0.
  [[nodiscard]] std::vector<std::uint64_t> next(std::span<const std::uint64_t> weights,
                                                std::uint64_t total) {
    std::vector<std::uint64_t> counts(weights.size(), 0);
    std::vector<std::size_t> parts;
    i128 missing = total;
    for (std::size_t part = 0; part < weights.size(); ++part) {
      if (weights[part] == 0) continue;
      parts.push_back(part);
      owed_[part] += static_cast<i128>(u128{weights[part]} * total);
      if (owed_[part] > 0) give(counts, part, owed_[part] / whole, missing);
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [&](std::size_t a, std::size_t b) { return owed_[a] > owed_[b]; });
    while (missing > 0)
      for (auto part = parts.begin(); part != parts.end() && missing > 0; ++part)
        give(counts, *part, 1, missing);
    while (missing < 0)
      for (auto part = parts.rbegin(); part != parts.rend() && missing < 0; ++part)
        if (counts[*part] > 0) give(counts, *part, -1, missing);
    return counts;
  }

 private:
  __extension__ using i128 = __int128;

  void give(std::vector<std::uint64_t>& counts, std::size_t part, i128 positions, i128& missing) {
    counts[part] += static_cast<std::uint64_t>(positions);
    owed_[part] -= positions * static_cast<i128>(whole);
    missing -= positions;
  }

  std::vector<i128> owed_;  ///< positions that each part should still get, in 1 / `whole`
};

}  // namespace feedline::detail
