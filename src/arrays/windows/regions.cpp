#include "arrays/windows/regions.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace feedline::detail {
namespace {

[[noreturn]] void refuse_region(const std::string& why) {
  throw usage_error{"make_windows: " + why};
}

bool has_random_position(const window& along) noexcept {
  return along.position == window_position::random;
}

/// Positions of a region of this many elements, at least 1.
std::uint64_t positions_in(const window& along) noexcept {
  return std::max<std::uint64_t>(1, along.region / along.stride);
}

void check_grid_region(const window_plan& plan, std::size_t number) {
  const window& along = plan.windows[number];
  const std::string where = "the region along " + to_string(along.axis);
  if (number != 0)
    refuse_region(
        where + " is " + std::to_string(along.region) +
        ", but positions there are on a grid, and only the first window can have regions then: "
        "make it the first window, or draw its positions at random");
  for (const window& other : plan.windows)
    if (has_random_position(other) && other.region != 0)
      refuse_region(
          where + " and the one along " + to_string(other.axis) +
          " cannot both be: regions are of random positions, or of the first window's grid");
}

/// Number of positions along a window that samples of one region may have.
std::uint64_t positions_of_region(const window_plan& plan, std::size_t number,
                                  bool of_random) noexcept {
  const std::uint64_t count = plan.positions[number].count();
  if (has_random_position(plan.windows[number])) {
    const std::uint64_t regions = plan.regions[number];
    return regions == 1 ? count : std::min(count, divide_up(count, regions) + 1);
  }
  if (of_random) return 1;
  return number == 0 ? std::min(count, positions_in(plan.windows[0])) : count;
}

/// The largest number of chunks that positions reach along one axis of an array.
std::uint64_t chunks_along(const window_plan& plan, const array_source& array, std::size_t d,
                           bool of_random) {
  const array_spec& spec = array.spec();
  const std::uint64_t all = divide_up(spec.shape[d], spec.chunk[d]);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  std::uint64_t moved = 0;
  for (const window_part& part : plan.parts) {
    if (part.array.get() != &array) continue;
    const part_axis& axis = part.axes[d];
    if (!axis.window) return all;
    first = std::min(first, axis.offset);
    last = std::max(last, axis.offset + static_cast<std::int64_t>((axis.count - 1) * axis.step));
    moved = checked_multiply(positions_of_region(plan, *axis.window, of_random) - 1,
                             plan.windows[*axis.window].stride)
                .value_or(spec.shape[d]);
  }
  const std::uint64_t span =
      std::min(spec.shape[d], moved + static_cast<std::uint64_t>(last - first) + 1);
  return std::min(all, (span + spec.chunk[d] - 2) / spec.chunk[d] + 1);
}

/// Memory for the chunks of a region of all arrays, and how many regions the arrays keep.
/// @param samples Samples of a region.
chunking chunks_of_region(const window_plan& plan, std::uint64_t samples, bool of_random) {
  chunking made{.samples = samples, .kept = std::numeric_limits<std::uint64_t>::max()};
  const array_source* before = nullptr;
  for (const window_part& part : plan.parts) {
    if (part.array.get() == before) continue;  // parts of one array follow each other
    before = part.array.get();
    const array_spec& spec = part.array->spec();
    if (spec.chunk.empty() || spec.chunks_kept == 0) continue;
    std::uint64_t chunks = 1;
    std::size_t bytes = size_bytes(spec.type);
    for (std::size_t d = 0; d < spec.shape.size(); ++d) {
      bytes *= spec.chunk[d];
      chunks *= chunks_along(plan, *part.array, d, of_random);
    }
    made.bytes += checked_multiply<std::size_t>(bytes, chunks).value_or(0);
    made.kept = std::min(made.kept, spec.chunks_kept / chunks);
  }
  return made.bytes == 0 ? chunking{} : made;
}

/// Those whose first window begins in one slab of chunks.
chunking chunks_of_slab(const window_plan& plan) {
  chunking most;
  const window& first = plan.windows.front();
  if (has_random_position(first)) return most;
  const std::uint64_t others = plan.samples / plan.positions.front().count();
  for (const window_part& part : plan.parts) {
    const array_spec& spec = part.array->spec();
    if (spec.chunk.empty() || spec.chunks_kept == 0) continue;
    std::uint64_t slab_chunks = 1;
    std::size_t bytes = size_bytes(spec.type);
    std::uint64_t along = 0;
    for (std::size_t d = 0; d < part.axes.size(); ++d) {
      bytes *= spec.chunk[d];
      if (part.axes[d].window == std::size_t{0})
        along = spec.chunk[d];
      else
        slab_chunks *= divide_up(spec.shape[d], spec.chunk[d]);
    }
    const auto samples = checked_multiply(along / first.stride, others);
    const auto slab_bytes = checked_multiply<std::size_t>(bytes, slab_chunks);
    const std::uint64_t kept = spec.chunks_kept / slab_chunks;
    if (!samples || !slab_bytes || *samples <= 1 || kept == 0 || *slab_bytes <= most.bytes)
      continue;
    most = {.samples = *samples, .bytes = *slab_bytes, .kept = kept};
  }
  return most;
}

}  // namespace

std::vector<std::uint64_t> regions_of(const window_plan& plan) {
  std::vector<std::uint64_t> regions(plan.windows.size(), 1);
  std::uint64_t all = 1;
  std::string where;
  for (std::size_t w = 0; w < regions.size(); ++w) {
    const window& along = plan.windows[w];
    if (along.region == 0) continue;
    if (!has_random_position(along)) {
      check_grid_region(plan, w);
      continue;
    }
    const std::uint64_t count = plan.positions[w].count();
    regions[w] = divide_up(count, positions_in(along));
    const auto product = checked_multiply(all, regions[w]);
    if (!product || !checked_multiply(count, regions[w]))
      refuse_region("there are more regions than can be counted; make the one along " +
                    to_string(along.axis) + " larger");
    all = *product;
    where += (where.empty() ? "" : ", ") + std::to_string(regions[w]) + " along " +
             to_string(along.axis);
  }
  if (!where.empty() && (plan.draws % all != 0 || plan.draws / all < 2)) {
    const std::uint64_t each = std::max<std::uint64_t>(2, divide_up(plan.draws, all));
    refuse_region("there are " + std::to_string(all) + " regions, " + where + ", and draws is " +
                  std::to_string(plan.draws) +
                  ": each region has as many samples, at least 2; set draws to a multiple of " +
                  std::to_string(all) + ", such as " +
                  std::to_string(checked_multiply(all, each).value_or(all)) +
                  ", or make the regions larger");
  }
  return regions;
}

chunking chunks_of(const window_plan& plan) {
  std::uint64_t all = 1;
  bool of_random = false;
  for (std::size_t w = 0; w < plan.windows.size(); ++w) {
    all *= plan.regions[w];
    of_random = of_random || (has_random_position(plan.windows[w]) && plan.windows[w].region != 0);
  }
  if (of_random) return chunks_of_region(plan, plan.draws / all, true);
  const window& first = plan.windows.front();
  if (first.region == 0) return chunks_of_slab(plan);
  const std::uint64_t count = plan.positions.front().count();
  return chunks_of_region(plan, std::min(count, positions_in(first)) * (plan.samples / count),
                          false);
}

}  // namespace feedline::detail
