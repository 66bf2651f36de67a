#include "formats/parquet/chunk_grid.hpp"

#include <algorithm>
#include <cstdint>

namespace feedline::detail {
namespace {

/// A chunk has at most as many of the largest row group, where they differ in size.
constexpr std::uint64_t max_groups = 8;
/// Chunks are made larger only if as many of them are kept: an order mixes those.
constexpr std::uint64_t fewest_kept_chunks = 16;

std::size_t add_up(std::size_t a, std::size_t b) noexcept {
  std::size_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

/// Bytes of the row groups that a chunk touches, of the chunk where these are most.
std::size_t most_bytes(const parquet_table& table, const std::vector<std::size_t>& group_bytes,
                       std::uint64_t samples) {
  std::size_t most = 0;
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t bytes = 0;
  for (std::uint64_t begin = 0; begin < table.size(); begin += samples) {
    const std::uint64_t last = std::min(begin + samples, table.size());
    for (; end < table.groups() && table.first_row(end) < last; ++end)
      bytes = add_up(bytes, group_bytes[end]);
    for (; table.first_row(first + 1) <= begin; ++first) bytes -= group_bytes[first];
    most = std::max(most, bytes);
  }
  return most;
}

}  // namespace

chunking find_chunking(const parquet_source& of, const std::vector<std::size_t>& columns) {
  const parquet_table& table = of.table();
  std::vector<std::size_t> group_bytes(table.groups());
  std::uint64_t largest = 0;
  bool are_equal = true;
  for (std::size_t group = 0; group < table.groups(); ++group) {
    for (const std::size_t column : columns)
      group_bytes[group] = add_up(group_bytes[group], table.decoded_bytes(group, column));
    largest = std::max(largest, table.rows(group));
    are_equal &= group + 1 == table.groups() || table.rows(group) == table.rows(0);
  }
  are_equal &= largest == table.rows(0);
  const auto kept_of = [&](std::uint64_t samples) {
    const std::uint64_t chunks = (table.size() - 1) / samples + 1;
    const std::size_t bytes = std::max<std::size_t>(1, most_bytes(table, group_bytes, samples));
    return chunking{.samples = samples,
                    .bytes = bytes,
                    .kept = std::clamp<std::uint64_t>(of.max_bytes() / bytes, 1, chunks)};
  };
  chunking best = kept_of(largest);
  if (are_equal) return best;
  for (std::uint64_t groups = max_groups; groups > 1; groups /= 2) {
    std::uint64_t samples = 0;
    if (__builtin_mul_overflow(largest, groups, &samples) || samples >= table.size()) continue;
    if (const chunking larger = kept_of(samples); larger.kept >= fewest_kept_chunks) return larger;
  }
  return best;
}

}  // namespace feedline::detail
