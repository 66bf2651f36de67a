#pragma once

#include "codecs/team.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <type_traits>

namespace feedline::test {

/// A warp on the host for `jpeg_scan_segments`, `inflater`, `zstd_decoder` and
/// `decode_lz4_block`, whose lanes work one after the other.
template <std::uint32_t Lanes = 32>
struct host_warp {
  static constexpr std::uint32_t lanes = Lanes;
  template <class T>
  using per_lane = std::array<T, lanes>;

  template <class Function>
  void each(Function f) {
    for (std::uint32_t i = 0; i < lanes; ++i) f(last_first ? lanes - 1 - i : i);
  }
  template <class Function>
  auto map(Function f) {
    per_lane<std::invoke_result_t<Function, std::uint32_t>> values{};
    each([&](std::uint32_t lane) { values[lane] = f(lane); });
    return values;
  }
  template <class Function>
  void one(Function f) {
    f();
  }
  template <class Function>
  bool once(Function f) {
    return f();
  }
  void sync() {}

  template <class T>
  T from(const per_lane<T>& values, std::uint32_t lane) {
    return values[lane];
  }
  bool any(const per_lane<bool>& values) {
    const bool is_any = std::ranges::count(values, true) != 0;
    rounds += is_any ? 1 : 0;
    return is_any;
  }
  std::uint32_t ballot(const per_lane<bool>& values) {
    std::uint32_t bits = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) bits |= (values[lane] ? 1U : 0U) << lane;
    return bits;
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
  template <class T>
  per_lane<T> before(const per_lane<T>& values, std::uint32_t apart = 1) {
    per_lane<T> shifted = values;
    std::copy(values.begin(), values.end() - apart, shifted.begin() + apart);
    return shifted;
  }
  template <class T>
  per_lane<T> gather(const per_lane<T>& values, const per_lane<std::uint32_t>& from) {
    return map([&](std::uint32_t lane) { return values[from[lane] % lanes]; });
  }
  template <class T>
  T last(const per_lane<T>& values) {
    return values.back();
  }
  per_lane<detail::team_peers> peers(const per_lane<std::uint32_t>& values) {
    return map([&](std::uint32_t lane) -> detail::team_peers {
      const auto count = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(
            std::count(values.begin(), values.begin() + end, values[lane]));
      };
      return {count(lane), count(lanes)};
    });
  }

  bool last_first = false;  ///< the order of lanes: what depends on it is a race
  int rounds = 0;           ///< in which some lane had to decode again
};

}  // namespace feedline::test
