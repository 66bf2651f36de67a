#include "rows/gather_rows.hpp"

#include "detail/byte_order.hpp"
#include "rows/copy_row.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace feedline::detail {
namespace {

/// Rows of a size known to the compiler: one load and one store each. They overlap in the core
/// without help.
template <std::size_t RowBytes, class Stride>
void gather_small(const std::byte* rows, Stride stride, std::span<const sample_index> samples,
                  std::byte* out) noexcept {
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::memcpy(out + i * RowBytes, rows + samples[i].value * stride, RowBytes);
}

template <std::size_t RowBytes>
void gather_small(strided_rows rows, std::span<const sample_index> samples,
                  std::byte* out) noexcept {
  if (rows.stride == RowBytes)  // a shift instead of a multiplication
    return gather_small<RowBytes>(rows.first, std::integral_constant<std::size_t, RowBytes>{},
                                  samples, out);
  gather_small<RowBytes>(rows.first, rows.stride, samples, out);
}

/// @param copy Copies one row: to, from, bytes.
template <class Copy>
void gather(strided_rows rows, std::span<const sample_index> samples, std::byte* out,
            Copy copy) noexcept {
  const std::size_t row_bytes = rows.row_bytes;
  const auto row_of = [=](std::size_t i) { return rows.first + samples[i].value * rows.stride; };
  const std::size_t count = samples.size();
  std::size_t i = 0;
  if (row_bytes <= largest_prefetched_row_bytes) {
    const std::size_t lead = std::min(prefetch_distance, count);
    for (std::size_t next = 0; next < lead; ++next) prefetch_row(row_of(next), row_bytes);
    for (; i + prefetch_distance < count; ++i) {
      prefetch_row(row_of(i + prefetch_distance), row_bytes);
      copy(out + i * row_bytes, row_of(i), row_bytes);
    }
  }
  for (; i < count; ++i) copy(out + i * row_bytes, row_of(i), row_bytes);
}

}  // namespace

void gather_rows(strided_rows rows, std::span<const sample_index> samples,
                 std::byte* out) noexcept {
  switch (rows.row_bytes) {
    case 1:
      return gather_small<1>(rows, samples, out);
    case 2:
      return gather_small<2>(rows, samples, out);
    case 4:
      return gather_small<4>(rows, samples, out);
    case 8:
      return gather_small<8>(rows, samples, out);
    default:
      gather(rows, samples, out, copy_row);
  }
}

void gather_swapped_rows(strided_rows rows, std::size_t element_bytes,
                         std::span<const sample_index> samples, std::byte* out) noexcept {
  switch (element_bytes) {
    case 2:
      return gather(rows, samples, out, copy_reversed<std::uint16_t>);
    case 4:
      return gather(rows, samples, out, copy_reversed<std::uint32_t>);
    case 8:
      return gather(rows, samples, out, copy_reversed<std::uint64_t>);
    default:
      return gather_rows(rows, samples, out);
  }
}

}  // namespace feedline::detail
