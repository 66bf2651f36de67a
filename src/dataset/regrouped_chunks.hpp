#pragma once

#include <feedline/dataset/chunking.hpp>

#include "detail/arithmetic.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace feedline::detail {

/// A dataset's chunks as seen by one that holds its samples at other places, in groups of
/// `samples`, which are taken for chunks there.
///
/// A group that begins and ends where chunks do is made of whole ones. Any other lies across one
/// chunk more than its size would need, so it takes the memory of all of these, and as many fewer
/// are kept. That is never less than what reading it costs: an order that trusts it reads no chunk
/// more often than the groups that lie on it, two if all are of one size.
/// @param first   Of the dataset's samples: where one of the groups begins.
/// @param samples At least 1; no fewer than a chunk's.
[[nodiscard]] inline chunking regrouped(const chunking& chunks, std::uint64_t first,
                                        std::uint64_t samples) noexcept {
  if (chunks.samples <= 1) return {};
  const bool whole = first % chunks.samples == 0 && samples % chunks.samples == 0;
  const std::uint64_t touched = divide_up(samples, chunks.samples) + (whole ? 0 : 1);
  const auto bytes = checked_multiply<std::uint64_t>(chunks.bytes, touched);
  return {
      .samples = samples,
      .bytes = static_cast<std::size_t>(bytes.value_or(std::numeric_limits<std::size_t>::max())),
      .kept = chunks.kept / touched};
}

}  // namespace feedline::detail
