#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace feedline::bench {

using clock_type = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// The value below which a share of the values lie; 0.5 is the median. `values` is not empty.
[[nodiscard]] inline double quantile(std::vector<double> values, double share) {
  const auto place = std::min(values.size() - 1,
                              static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

[[nodiscard]] inline double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

/// The median of what `measure()` gives when called this many times.
template <class Measure>
[[nodiscard]] double median_of(int count, const Measure& measure) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(measure());
  return median(std::move(values));
}

}  // namespace feedline::bench
