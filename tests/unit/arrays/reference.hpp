#pragma once

#include <feedline/arrays/windows.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::test {

/// Windows by their definition, one element after the other, with no thought of speed.

/// A field's window along one axis.
struct plain_window {
  std::int64_t offset = 0;
  std::uint64_t size = 1;
  std::uint64_t step = 1;
};

/// Positions of the windows along an axis.
inline std::vector<std::int64_t> plain_positions(const window& along, std::uint64_t extent,
                                                 const std::vector<plain_window>& fields) {
  const auto end = static_cast<std::int64_t>(extent);
  std::int64_t low = fields.front().offset;
  std::int64_t high = low;
  for (const plain_window& each : fields)
    for (std::uint64_t k = 0; k < each.size; ++k) {
      const std::int64_t at = each.offset + static_cast<std::int64_t>(k * each.step);
      low = std::min(low, at);
      high = std::max(high, at);
    }
  std::vector<std::int64_t> positions;
  const bool drops = along.edges == window_edges::drop;
  for (std::int64_t at = drops ? -low : 0; drops ? at + high < end : at < end;
       at += static_cast<std::int64_t>(along.stride)) {
    bool is_free = true;
    for (const index_range& each : along.excluded) {
      const auto begin = static_cast<std::int64_t>(each.begin);
      const auto stop = static_cast<std::int64_t>(each.end);
      const bool is_before = at + high < begin;
      const bool is_after = at + low >= stop;
      is_free = is_free && (is_before || is_after);
    }
    if (is_free) positions.push_back(at);
  }
  return positions;
}

/// Index of an element in the array; empty: it is padding.
inline std::optional<std::uint64_t> plain_index(std::int64_t at, std::uint64_t extent,
                                                window_edges edges) {
  const auto end = static_cast<std::int64_t>(extent);
  if (at >= 0 && at < end) return static_cast<std::uint64_t>(at);
  if (edges != window_edges::reflect) return std::nullopt;
  while (end > 1 && (at < 0 || at >= end)) at = at < 0 ? -at : 2 * (end - 1) - at;
  return end == 1 ? 0 : static_cast<std::uint64_t>(at);
}

}  // namespace feedline::test
