#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace feedline::test {

/// What `jpeg_scan_segments` needs of a warp, with lanes that work one after the other.
template <std::uint32_t Lanes = 32>
struct host_warp {
  static constexpr std::uint32_t lanes = Lanes;
  template <class T>
  using per_lane = std::array<T, lanes>;

  template <class Function>
  void each(Function f) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) f(lane);
  }
  template <class Function>
  bool once(Function f) {
    return f();
  }
  bool any(const per_lane<bool>& values) {
    const bool is_any = std::ranges::count(values, true) != 0;
    rounds += is_any ? 1 : 0;
    return is_any;
  }
  std::uint32_t least(const per_lane<std::uint32_t>& values) {
    return *std::ranges::min_element(values);
  }
  std::uint32_t sum(const per_lane<std::uint32_t>& values) {
    return std::accumulate(values.begin(), values.end(), 0U);
  }
  per_lane<std::uint32_t> sum_before(const per_lane<std::uint32_t>& values) {
    per_lane<std::uint32_t> sums{};
    std::exclusive_scan(values.begin(), values.end(), sums.begin(), 0U);
    return sums;
  }
  per_lane<std::uint64_t> before(const per_lane<std::uint64_t>& values) {
    per_lane<std::uint64_t> shifted = values;
    std::copy(values.begin(), values.end() - 1, shifted.begin() + 1);
    return shifted;
  }
  std::uint64_t last(const per_lane<std::uint64_t>& values) { return values.back(); }

  int rounds = 0;  ///< in which some lane had to decode again
};

}  // namespace feedline::test
