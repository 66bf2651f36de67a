#include "rows/gather_scattered.hpp"

#include "rows/copy_row.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

/// @param place_of Where in `out` row i goes.
template <class PlaceOf>
void gather(std::span<const std::byte* const> rows, std::size_t row_bytes, std::byte* out,
            PlaceOf place_of) noexcept {
  std::size_t i = 0;
  if (row_bytes <= largest_prefetched_row_bytes) {
    for (std::size_t next = 0; next < std::min(prefetch_distance, rows.size()); ++next)
      prefetch_row(rows[next], row_bytes);
    for (; i + prefetch_distance < rows.size(); ++i) {
      prefetch_row(rows[i + prefetch_distance], row_bytes);
      copy_row(out + place_of(i) * row_bytes, rows[i], row_bytes);
    }
  }
  for (; i < rows.size(); ++i) copy_row(out + place_of(i) * row_bytes, rows[i], row_bytes);
}

}  // namespace

void gather_scattered(std::span<const std::byte* const> rows, std::size_t row_bytes,
                      std::byte* out) noexcept {
  gather(rows, row_bytes, out, [](std::size_t i) { return i; });
}

void gather_scattered(std::span<const std::byte* const> rows, std::span<const std::size_t> places,
                      std::size_t row_bytes, std::byte* out) noexcept {
  gather(rows, row_bytes, out, [=](std::size_t i) { return places[i]; });
}

}  // namespace feedline::detail
