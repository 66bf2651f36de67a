#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace feedline::test {

/// How many standard deviations the chi-square statistic of equally likely cells lies from its
/// mean.
[[nodiscard]] inline double deviation(const std::vector<std::uint64_t>& counts) {
  const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  const double expected = static_cast<double>(total) / static_cast<double>(counts.size());
  double chi_square = 0;
  for (const auto count : counts) {
    const double difference = static_cast<double>(count) - expected;
    chi_square += difference * difference / expected;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi_square - freedom) / std::sqrt(2 * freedom);
}

}  // namespace feedline::test
