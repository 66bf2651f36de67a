#include "rows/gather.hpp"

#include "detail/byte_order.hpp"

#include <algorithm>
#include <type_traits>

namespace feedline::detail {
namespace {

/// How much is prefetched before it is copied: hardware cannot predict shuffled rows.
struct lookahead {
  std::size_t rows;
  std::size_t bytes;  ///< bytes of each row
};

/// Six rows of a few hundred bytes are about as many lines as a core keeps in flight. The hardware
/// itself finds the lines of a long row after its first ones.
constexpr lookahead lookahead_for(std::size_t row_bytes) noexcept {
  if (row_bytes > largest_prefetched_row_bytes) return {.rows = 1, .bytes = 512};
  return {.rows = 6, .bytes = row_bytes};
}

/// Asks for the lines of a row's first bytes.
void prefetch_row(const std::byte* row, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += cache_line_bytes) __builtin_prefetch(row + at);
  __builtin_prefetch(row + bytes - 1);  // a row that starts within a line ends in one more
}

/// @param row_of Where row i lies. @param copy Copies row i.
template <class RowOf, class Copy>
void gather(std::size_t count, std::size_t row_bytes, RowOf row_of, Copy copy) noexcept {
  const lookahead ahead = lookahead_for(row_bytes);
  for (std::size_t next = 0; next < std::min(ahead.rows, count); ++next)
    prefetch_row(row_of(next), ahead.bytes);
  std::size_t i = 0;
  for (; i + ahead.rows < count; ++i) {
    prefetch_row(row_of(i + ahead.rows), ahead.bytes);
    copy(i);
  }
  for (; i < count; ++i) copy(i);
}

/// @tparam Copy Copies one row: to, from, bytes. A constant, so that there is a loop for each.
template <auto Copy>
void gather(strided_rows rows, std::span<const sample_index> samples, std::byte* out) noexcept {
  const auto row_of = [=](std::size_t i) { return rows.first + samples[i].value * rows.stride; };
  gather(samples.size(), rows.row_bytes, row_of,
         [=](std::size_t i) { Copy(out + i * rows.row_bytes, row_of(i), rows.row_bytes); });
}

template <std::size_t Bytes>
using constant = std::integral_constant<std::size_t, Bytes>;

/// Calls `visit` with a size; for some sizes as a constant: then the copy of a row is one load and
/// one store. Such copies overlap in the core without help.
template <class Visit>
void with_constant(std::size_t bytes, Visit visit) noexcept {
  if (bytes == 1) return visit(constant<1>{});
  if (bytes == 2) return visit(constant<2>{});
  if (bytes == 4) return visit(constant<4>{});
  if (bytes == 8) return visit(constant<8>{});
  visit(bytes);
}

}  // namespace

void gather_rows(strided_rows rows, std::span<const sample_index> samples, std::byte* out,
                 std::size_t swapped_bytes) noexcept {
  if (swapped_bytes == 2) return gather<copy_reversed<std::uint16_t>>(rows, samples, out);
  if (swapped_bytes == 4) return gather<copy_reversed<std::uint32_t>>(rows, samples, out);
  if (swapped_bytes == 8) return gather<copy_reversed<std::uint64_t>>(rows, samples, out);
  with_constant(rows.row_bytes, [=](auto bytes) {
    if constexpr (std::is_same_v<decltype(bytes), std::size_t>) {
      gather<copy_row>(rows, samples, out);
    } else {
      const auto copy = [=](auto stride) {
        for (std::size_t i = 0; i < samples.size(); ++i)
          std::memcpy(out + i * bytes, rows.first + samples[i].value * stride, bytes);
      };
      if (rows.stride == bytes) return copy(bytes);  // a shift instead of a multiplication
      copy(rows.stride);
    }
  });
}

void gather_into_batches(const std::byte* rows, std::size_t row_bytes,
                         std::span<const sample_index> samples, rows_in_batches out,
                         std::uint64_t begin) noexcept {
  std::byte* batch = out.first;
  with_constant(row_bytes, [&](auto bytes) {
    if constexpr (std::is_same_v<decltype(bytes), std::size_t>) {
      std::byte* to = batch + begin * bytes;
      std::uint64_t left = out.batch_rows - begin;  // rows left in the batch
      const auto row_of = [=](std::size_t i) { return rows + samples[i].value * bytes; };
      gather(samples.size(), bytes, row_of, [&](std::size_t i) {
        copy_row(to, row_of(i), bytes);
        to += bytes;
        if (--left != 0) return;
        to = batch += out.batch_stride;
        left = out.batch_rows;
      });
    } else {
      while (!samples.empty()) {
        const std::size_t count = std::min<std::size_t>(samples.size(), out.batch_rows - begin);
        gather_rows(rows, bytes, samples.first(count), batch + begin * bytes);
        samples = samples.subspan(count);
        batch += out.batch_stride;
        begin = 0;
      }
    }
  });
}

void gather_scattered(std::span<const std::byte* const> rows, std::span<const std::size_t> places,
                      std::size_t row_bytes, std::byte* out) noexcept {
  gather(
      rows.size(), row_bytes, [=](std::size_t i) { return rows[i]; },
      [=](std::size_t i) { copy_row(out + places[i] * row_bytes, rows[i], row_bytes); });
}

void copy_spread(const std::byte* from, std::size_t stride, std::size_t count,
                 std::size_t element_bytes, std::byte* out) noexcept {
  if (stride == element_bytes) {
    std::memcpy(out, from, count * element_bytes);
    return;
  }
  with_constant(element_bytes, [=](auto bytes) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(out + i * bytes, from + i * stride, bytes);
  });
}

}  // namespace feedline::detail
