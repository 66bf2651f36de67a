#include "arrays/cut/window_box.hpp"

#include <cstdlib>
#include <cstring>

namespace feedline::detail {
namespace {

struct box_dimension {
  std::uint64_t count;
  std::ptrdiff_t from;
  std::ptrdiff_t to;
};

/// The largest power of two, at most 16, that divides all numbers that are added.
class common_unit {
 public:
  void add(std::uint64_t number) noexcept { all_ |= number; }
  void add_stride(std::ptrdiff_t stride) noexcept {
    all_ |= static_cast<std::uint64_t>(std::llabs(stride));
  }
  [[nodiscard]] std::uint32_t value() const noexcept {
    return static_cast<std::uint32_t>(all_ & (~all_ + 1));
  }

 private:
  std::uint64_t all_ = 16;
};

/// Dimensions of more than one element, outermost first; those that are dense are one.
/// @return Number of dimensions.
std::size_t merge_dense(const box_extents& what, box_dimension (&merged)[window_box::max_rank]) {
  std::size_t rank = 0;
  for (std::size_t d = 0; d < what.count.size(); ++d) {
    if (what.count[d] == 1) continue;
    const box_dimension next{what.count[d], what.from_stride[d], what.to_stride[d]};
    const auto inner = static_cast<std::ptrdiff_t>(next.count);
    if (rank > 0 && merged[rank - 1].from == next.from * inner &&
        merged[rank - 1].to == next.to * inner)
      merged[rank - 1] = {merged[rank - 1].count * next.count, next.from, next.to};
    else
      merged[rank++] = next;
  }
  return rank;
}

window_box lay_out(const box_extents& what, bool is_fill) {
  box_dimension merged[window_box::max_rank];
  std::size_t rank = merge_dense(what, merged);
  const auto element = static_cast<std::ptrdiff_t>(what.element_bytes);
  std::uint64_t run = what.element_bytes;
  if (rank > 0 && merged[rank - 1].to == element && (is_fill || merged[rank - 1].from == element))
    run *= merged[--rank].count;
  common_unit unit;
  unit.add(run);
  unit.add(what.to);
  unit.add(what.row_bytes);
  if (!is_fill) {
    unit.add(what.from);
    unit.add(what.chunk_bytes);
  }
  for (std::size_t d = 0; d < rank; ++d) {
    unit.add_stride(merged[d].to);
    if (!is_fill) unit.add_stride(merged[d].from);
  }
  window_box box;
  box.from = is_fill ? 0 : static_cast<std::uint32_t>(what.from);
  box.to = static_cast<std::uint32_t>(what.to);
  box.unit = unit.value();
  const auto step = static_cast<std::ptrdiff_t>(box.unit);
  if (run > box.unit) merged[rank++] = {run / box.unit, step, step};
  box.rank = static_cast<std::uint32_t>(rank);
  box.units = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    box.count[d] = static_cast<std::uint32_t>(merged[d].count);
    box.units *= box.count[d];
    box.from_stride[d] = is_fill ? 0 : static_cast<std::int32_t>(merged[d].from);
    box.to_stride[d] = static_cast<std::int32_t>(merged[d].to);
  }
  return box;
}

}  // namespace

window_box make_window_box(const box_extents& what) {
  return lay_out(what, false);
}

window_box make_fill_box(const box_extents& what, std::span<const std::byte> fill) {
  const std::ptrdiff_t none[window_box::max_rank] = {};
  box_extents repeated = what;
  repeated.from_stride = {none, what.count.size()};
  window_box box = lay_out(repeated, true);
  box.place = window_box::no_chunk;
  for (std::size_t at = 0; at < sizeof box.fill; at += fill.size())
    std::memcpy(box.fill + at, fill.data(), fill.size());
  return box;
}

}  // namespace feedline::detail
