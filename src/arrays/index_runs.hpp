#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace feedline::detail {

/// Indices at equal distances along an axis, and where they go.
struct index_run {
  std::uint64_t begin;      ///< smallest index
  std::uint64_t step;       ///< at least 1
  std::uint64_t count;      ///< at least 1
  std::uint64_t out;        ///< position of `begin` in the window
  std::ptrdiff_t out_step;  ///< 1, or -1 if the indices fall
};

/// Groups indices into as few runs as a single pass finds.
/// @param index_of Gives the index at a position of the window; empty: none goes there.
template <class IndexOf>
void append_runs(std::uint64_t count, const IndexOf& index_of, std::vector<index_run>& runs) {
  for (std::uint64_t k = 0; k < count;) {
    const std::optional<std::uint64_t> first = index_of(k);
    if (!first) {
      ++k;
      continue;
    }
    std::uint64_t length = 1;
    const auto second = k + 1 < count ? index_of(k + 1) : std::nullopt;
    const auto delta =
        second ? static_cast<std::int64_t>(*second) - static_cast<std::int64_t>(*first) : 0;
    if (delta != 0)
      for (std::uint64_t before = *first; k + length < count; ++length) {
        const auto next = index_of(k + length);
        if (!next || static_cast<std::int64_t>(*next) - static_cast<std::int64_t>(before) != delta)
          break;
        before = *next;
      }
    const std::uint64_t distance = static_cast<std::uint64_t>(delta < 0 ? -delta : delta);
    if (delta >= 0)
      runs.push_back({*first, delta == 0 ? 1 : distance, length, k, 1});
    else
      runs.push_back({*first - (length - 1) * distance, distance, length, k + length - 1, -1});
    k += length;
  }
}

}  // namespace feedline::detail
