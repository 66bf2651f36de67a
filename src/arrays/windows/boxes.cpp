#include "arrays/windows/boxes.hpp"

#include "arrays/copy_box.hpp"

#include <algorithm>
#include <optional>

namespace feedline::detail {
namespace {

/// Stream of `sample_random` from which positions are drawn: "windows" as a number.
constexpr std::uint64_t positions_stream = 0x77'69'6e'64'6f'77'73;

/// Index of an element mirrored into the array at its first and last element.
std::uint64_t mirrored(std::int64_t index, std::uint64_t extent) noexcept {
  if (extent == 1) return 0;
  const auto period = static_cast<std::int64_t>(2 * (extent - 1));
  std::int64_t at = index % period;
  if (at < 0) at += period;
  return static_cast<std::uint64_t>(std::min(at, period - at));
}

/// Writes a part's pad to all of its elements.
void put_pad(const window_part& part, std::byte* out) {
  std::vector<std::uint64_t> count;
  std::vector<std::ptrdiff_t> stride;
  for (const part_axis& axis : part.axes) {
    count.push_back(axis.count);
    stride.push_back(axis.stride);
  }
  const std::vector<std::ptrdiff_t> repeated(count.size(), 0);
  copy_box({.count = count,
            .from = part.pad.data(),
            .from_stride = repeated,
            .to = out,
            .to_stride = stride,
            .element_bytes = part.pad.size()});
}

}  // namespace

window_boxes::window_boxes(const window_plan& plan) : plan_{plan} {
  for (const std::uint64_t regions : plan_.regions) draws_of_region_ /= regions;
}

window_boxes::positions window_boxes::positions_of(sample_index sample,
                                                   const sample_context& context) const {
  positions all(plan_.windows.size());
  sample_random random = context.random(positions_stream);
  for (std::size_t w = 0; w < all.size(); ++w)
    if (plan_.windows[w].position == window_position::random)
      all[w] = static_cast<std::int64_t>(random.below(plan_.positions[w].count()));
  std::uint64_t number = sample.value / plan_.draws;
  std::uint64_t region = sample.value % plan_.draws / draws_of_region_;
  for (std::size_t w = all.size(); w-- > 0;) {
    const std::uint64_t count = plan_.positions[w].count();
    if (plan_.windows[w].position == window_position::random) {
      // Uniform over all positions if the region is: regions share positions between them.
      const std::uint64_t regions = plan_.regions[w];
      const std::uint64_t drawn = region % regions * count + static_cast<std::uint64_t>(all[w]);
      all[w] = plan_.positions[w][drawn / regions];
      region /= regions;
      continue;
    }
    all[w] = plan_.positions[w][number % count];
    number /= count;
  }
  return all;
}

void window_boxes::add(const window_part& part, const positions& at, std::byte* out,
                       box_list& boxes) const {
  const bool is_whole = add_at(part, at, reinterpret_cast<std::uintptr_t>(out), boxes);
  if (!is_whole && out != nullptr) put_pad(part, out);
}

bool window_boxes::add_at(const window_part& part, const positions& at, std::uintptr_t out,
                          box_list& boxes) const {
  const std::size_t rank = part.axes.size();
  thread_local std::vector<std::vector<index_run>> runs;  // kept to avoid allocation
  thread_local std::vector<box_list::axis> axes;
  if (runs.size() < rank) runs.resize(rank);
  axes.resize(rank);
  bool is_whole = true;
  bool is_empty = false;
  for (std::size_t d = 0; d < rank; ++d) {
    runs[d].clear();
    is_whole = find_runs(part, d, at, runs[d]) && is_whole;
    is_empty = is_empty || runs[d].empty();
  }
  if (is_empty) return is_whole;
  std::vector<std::size_t> chosen(rank, 0);
  for (;;) {
    std::uintptr_t to = out;
    for (std::size_t d = 0; d < rank; ++d) {
      const index_run& run = runs[d][chosen[d]];
      to += run.out * static_cast<std::uintptr_t>(part.axes[d].stride);
      axes[d] = {run.begin, run.count, run.step, part.axes[d].stride * run.out_step};
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an offset is kept in an address's place.
    boxes.add(axes, reinterpret_cast<std::byte*>(to));
    std::size_t d = rank;
    while (d > 0 && ++chosen[d - 1] == runs[d - 1].size()) chosen[--d] = 0;
    if (d == 0) return is_whole;
  }
}

bool window_boxes::find_runs(const window_part& part, std::size_t d, const positions& at,
                             std::vector<index_run>& runs) const {
  const part_axis& axis = part.axes[d];
  if (!axis.window) {
    runs.push_back({0, 1, axis.count, 0, 1});
    return true;
  }
  const std::uint64_t extent = part.array->spec().shape[d];
  const auto end = static_cast<std::int64_t>(extent);
  const auto step = static_cast<std::int64_t>(axis.step);
  const std::int64_t first = at[*axis.window] + axis.offset;
  const std::int64_t last = first + static_cast<std::int64_t>(axis.count - 1) * step;
  if (first >= 0 && last < end) {
    runs.push_back({static_cast<std::uint64_t>(first), axis.step, axis.count, 0, 1});
    return true;
  }
  if (plan_.windows[*axis.window].edges == window_edges::reflect) {
    append_runs(
        axis.count,
        [&](std::uint64_t k) {
          return std::optional{mirrored(first + static_cast<std::int64_t>(k) * step, extent)};
        },
        runs);
    return true;
  }
  const std::int64_t skipped = first < 0 ? (-first + step - 1) / step : 0;
  const std::int64_t begin = first + skipped * step;
  if (begin < end && skipped < static_cast<std::int64_t>(axis.count))
    runs.push_back(
        {static_cast<std::uint64_t>(begin), axis.step,
         static_cast<std::uint64_t>(std::min((end - 1 - begin) / step + 1,
                                             static_cast<std::int64_t>(axis.count) - skipped)),
         static_cast<std::uint64_t>(skipped), 1});
  return false;
}

}  // namespace feedline::detail
