#include "staging/rows_in_place.hpp"

#include "detail/arithmetic.hpp"

namespace feedline::detail {
namespace {

/// Arrays of fewer whole pages are copied.
constexpr std::size_t fewest_pages = 4;

}  // namespace

rows_in_place find_rows_in_place(std::span<const std::byte> rows, std::uint64_t samples,
                                 std::size_t granularity) noexcept {
  if (samples == 0 || rows.empty()) return {};
  if (granularity <= 1) return {0, samples, rows};
  const auto begin = reinterpret_cast<std::uintptr_t>(rows.data());
  const std::size_t before = round_up<std::uintptr_t>(begin, granularity) - begin;
  const std::size_t after = (begin + rows.size()) % granularity;
  if (rows.size() < before + after + fewest_pages * granularity) return {};
  const std::size_t row_bytes = rows.size() / samples;
  const std::uint64_t first = divide_up(before, row_bytes);
  const std::uint64_t end = (rows.size() - after) / row_bytes;
  if (first >= end) return {};
  return {first, end - first, rows.subspan(before, rows.size() - before - after)};
}

}  // namespace feedline::detail
