#include "dataset/gather_rows.hpp"

#include <algorithm>
#include <cstring>

namespace feedline::detail {
namespace {

constexpr std::size_t cache_line_bytes = 64;

/// How many rows ahead to ask for: shuffled rows are no pattern that hardware could guess, and six
/// rows of a few hundred bytes are about as many lines as a core keeps under way.
constexpr std::size_t prefetch_distance = 6;

/// A longer row is found by the hardware's own prefetcher after its first lines.
constexpr std::size_t largest_prefetched_row_bytes = 4096;

void prefetch_row(const std::byte* row, std::size_t row_bytes) noexcept {
  for (std::size_t at = 0; at < row_bytes; at += cache_line_bytes) __builtin_prefetch(row + at);
  __builtin_prefetch(row + row_bytes - 1);  // a row that starts within a line ends in one more
}

/// Rows of a size known to the compiler: one load and one store each. They overlap in the core
/// without help.
template <std::size_t RowBytes>
void gather_small(const std::byte* rows, std::span<const sample_index> samples,
                  std::byte* out) noexcept {
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::memcpy(out + i * RowBytes, rows + samples[i].value * RowBytes, RowBytes);
}

void gather_prefetched(const std::byte* rows, std::size_t row_bytes,
                       std::span<const sample_index> samples, std::byte* out) noexcept {
  const auto row_of = [=](std::size_t i) { return rows + samples[i].value * row_bytes; };
  const std::size_t count = samples.size();
  const std::size_t lead = std::min(prefetch_distance, count);
  for (std::size_t i = 0; i < lead; ++i) prefetch_row(row_of(i), row_bytes);
  std::size_t i = 0;
  for (; i + prefetch_distance < count; ++i) {
    prefetch_row(row_of(i + prefetch_distance), row_bytes);
    std::memcpy(out + i * row_bytes, row_of(i), row_bytes);
  }
  for (; i < count; ++i) std::memcpy(out + i * row_bytes, row_of(i), row_bytes);
}

}  // namespace

void gather_rows(const std::byte* rows, std::size_t row_bytes,
                 std::span<const sample_index> samples, std::byte* out) noexcept {
  switch (row_bytes) {
    case 1:
      return gather_small<1>(rows, samples, out);
    case 2:
      return gather_small<2>(rows, samples, out);
    case 4:
      return gather_small<4>(rows, samples, out);
    case 8:
      return gather_small<8>(rows, samples, out);
    default:
      break;
  }
  if (row_bytes <= largest_prefetched_row_bytes)
    return gather_prefetched(rows, row_bytes, samples, out);
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::memcpy(out + i * row_bytes, rows + samples[i].value * row_bytes, row_bytes);
}

}  // namespace feedline::detail
