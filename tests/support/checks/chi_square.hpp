#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace feedline::test {

/// How many standard deviations the chi-square statistic of some cells lies from its mean.
/// @param shares Expected share of each cell, in any unit; a cell of 0 must be empty.
[[nodiscard]] inline double deviation(const std::vector<std::uint64_t>& counts,
                                      const std::vector<double>& shares) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const double all = std::accumulate(shares.begin(), shares.end(), 0.0);
  double chi_square = 0;
  double freedom = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = static_cast<double>(total) * shares.at(i) / all;
    if (expected == 0 && counts[i] == 0) continue;
    const double difference = static_cast<double>(counts[i]) - expected;
    chi_square += difference * difference / expected;
    ++freedom;
  }
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

/// The same of equally likely cells.
[[nodiscard]] inline double deviation(const std::vector<std::uint64_t>& counts) {
  return deviation(counts, std::vector<double>(counts.size(), 1));
}

}  // namespace feedline::test
