#pragma once

#include <feedline/index.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// The part (class, dataset) that a position has, and the index in the part's own sequence.
struct ranked {
  std::uint64_t part = 0;
  std::uint64_t rank = 0;
};

inline constexpr std::size_t max_ranked = 256;

/// Writes the samples at some positions, one call of `write` for each part among them.
/// @param at At most `max_ranked`; the ranks of each part are consecutive. They need not rise: the
///           part's samples come in the order of its sequence anyway.
/// @param write `write(part, first_rank, run)`: writes the part's samples from a rank on.
template <class Write>
void write_by_part(std::span<const ranked> at, std::span<sample_index> out, Write write) {
  assert(at.size() <= max_ranked && at.size() == out.size());
  std::array<std::uint32_t, max_ranked> places;
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(at.size());
  for (std::size_t i = 0; i < at.size(); ++i) places[i] = static_cast<std::uint32_t>(i);
  std::sort(places.begin(), end, [&](std::uint32_t a, std::uint32_t b) {
    return at[a].part != at[b].part ? at[a].part < at[b].part : a < b;
  });
  std::array<sample_index, max_ranked> samples;
  for (std::size_t i = 0; i < at.size();) {
    const std::uint64_t part = at[places[i]].part;
    std::uint64_t first = UINT64_MAX;
    std::size_t behind = i;
    for (; behind < at.size() && at[places[behind]].part == part; ++behind)
      first = std::min(first, at[places[behind]].rank);
    const auto run = std::span{samples}.first(behind - i);
    write(part, first, run);
    for (const sample_index sample : run) out[places[i++]] = sample;
  }
}

}  // namespace feedline::detail
