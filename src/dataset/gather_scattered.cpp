#include "dataset/gather_scattered.hpp"

#include <algorithm>
#include <cstring>

namespace feedline::detail {
namespace {

constexpr std::size_t cache_line_bytes = 64;

/// As in `gather_rows`, where the reasons are; of a long row the beginning alone.
constexpr std::size_t prefetch_distance = 6;
constexpr std::size_t most_prefetched_bytes = 4096;

void prefetch_row(const std::byte* row, std::size_t bytes) noexcept {
  if (row == nullptr) return;
  for (std::size_t at = 0; at < bytes; at += cache_line_bytes) __builtin_prefetch(row + at);
  __builtin_prefetch(row + bytes - 1);
}

}  // namespace

void gather_scattered(std::span<const std::byte* const> rows, std::size_t row_bytes,
                      std::byte* out) noexcept {
  const std::size_t ahead = row_bytes <= most_prefetched_bytes ? row_bytes : 0;
  if (ahead != 0)
    for (std::size_t i = 0; i < std::min(prefetch_distance, rows.size()); ++i)
      prefetch_row(rows[i], ahead);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (ahead != 0 && i + prefetch_distance < rows.size())
      prefetch_row(rows[i + prefetch_distance], ahead);
    if (rows[i] != nullptr) std::memcpy(out + i * row_bytes, rows[i], row_bytes);
  }
}

}  // namespace feedline::detail
