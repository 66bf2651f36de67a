#pragma once

#include <feedline/sampler/sampler.hpp>

#include "support/checks/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace feedline::test {

/// The samples at some positions of an epoch.
[[nodiscard]] inline std::vector<std::uint64_t> run_of(const sampler& order, std::uint64_t samples,
                                                       std::uint64_t epoch, std::uint64_t first,
                                                       std::uint64_t count) {
  std::vector<sample_index> out(count, sample_index{UINT64_MAX});
  order.indices(samples, epoch, position{first}, out);
  std::vector<std::uint64_t> values;
  for (const sample_index sample : out) values.push_back(sample.value);
  return values;
}

[[nodiscard]] inline std::vector<std::uint64_t> epoch_of(const sampler& order,
                                                         std::uint64_t samples,
                                                         std::uint64_t epoch) {
  return run_of(order, samples, epoch, 0, order.size(samples));
}

/// How often each of 0 … kinds - 1 occurs.
[[nodiscard]] inline std::vector<std::uint64_t> times_of(const std::vector<std::uint64_t>& values,
                                                         std::uint64_t kinds) {
  std::vector<std::uint64_t> times(kinds, 0);
  for (const std::uint64_t value : values) ++times.at(value);
  return times;
}

/// Checks the contract of every sampler: all answers are samples of the dataset, and the answer for
/// a position is the same alone, in a run of any length, after the epoch's end or before it, and in
/// another thread.
inline void check_is_pure(const sampler& order, std::uint64_t samples) {
  const std::uint64_t positions = order.size(samples);
  for (const std::uint64_t epoch : {std::uint64_t{0}, std::uint64_t{3}, UINT64_MAX}) {
    const auto whole = epoch_of(order, samples, epoch);
    REQUIRE(std::all_of(whole.begin(), whole.end(), [&](auto one) { return one < samples; }));
    for (std::uint64_t first = positions; first-- > 0;) {
      const auto count = std::min<std::uint64_t>(positions - first, 1 + first * 7 % 150);
      const auto run = run_of(order, samples, epoch, first, count);
      REQUIRE(
          std::equal(run.begin(), run.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
    }
    for (std::uint64_t first = 0; first < positions; first += 13)
      REQUIRE(run_of(order, samples, epoch, first, 1).front() == whole[first]);
    CHECK(run_of(order, samples, epoch, positions, 0).empty());
    std::vector<std::uint64_t> elsewhere;
    std::thread{[&] { elsewhere = epoch_of(order, samples, epoch); }}.join();
    CHECK(elsewhere == whole);
  }
}

}  // namespace feedline::test
