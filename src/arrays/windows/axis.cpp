#include "arrays/windows/axis.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <limits>

namespace feedline::detail {
namespace {

/// Indices [begin, end) along the axis within which windows must stay.
struct axis_stretch {
  std::int64_t begin;
  std::int64_t end;
};

constexpr auto unbounded = std::numeric_limits<std::int64_t>::max() / 4;

std::vector<axis_stretch> stretches_of(const window& along, const std::string& named,
                                       std::uint64_t extent) {
  std::vector<index_range> excluded = along.excluded;
  std::ranges::sort(excluded, {}, &index_range::begin);
  const bool is_open = along.edges != window_edges::drop;
  std::vector<axis_stretch> all;
  std::int64_t begin = is_open ? -unbounded : 0;
  for (const index_range& each : excluded) {
    if (each.begin > each.end || each.end > extent)
      throw usage_error{"make_windows: the excluded range [" + std::to_string(each.begin) + ", " +
                        std::to_string(each.end) + ") is not within the " + std::to_string(extent) +
                        " elements of " + named};
    all.push_back({begin, static_cast<std::int64_t>(each.begin)});
    begin = std::max(begin, static_cast<std::int64_t>(each.end));
  }
  all.push_back({begin, is_open ? unbounded : static_cast<std::int64_t>(extent)});
  return all;
}

std::int64_t divide_down(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

window_positions::window_positions(const window& along, const std::string& named,
                                   std::uint64_t extent, const window_reach& reach)
    : stride_{std::min(along.stride, static_cast<std::uint64_t>(unbounded))} {
  if (along.stride == 0)
    throw usage_error{"make_windows: the stride along " + named +
                      " is 0; 1 makes a window at each element, the window's size leaves none out"};
  if (extent > static_cast<std::uint64_t>(unbounded))
    throw usage_error{"make_windows: " + named + " has " + std::to_string(extent) +
                      " elements, more than windows can be counted along"};
  const bool drops = along.edges == window_edges::drop;
  const std::uint64_t wide =
      static_cast<std::uint64_t>(reach.last) - static_cast<std::uint64_t>(reach.first) + 1;
  if (drops && (wide == 0 || wide > extent))
    throw usage_error{"make_windows: the windows of a sample span " + std::to_string(wide) +
                      " elements along " + named + ", offsets and steps included, but there are " +
                      std::to_string(extent) +
                      "; make them smaller, or set edges to pad or reflect"};
  first_ = drops ? -reach.first : 0;
  // Positions are at most `last_position`, whatever is excluded.
  const std::int64_t last_position = drops ? static_cast<std::int64_t>(extent) - 1 - reach.last
                                           : static_cast<std::int64_t>(extent) - 1;
  const auto stride = static_cast<std::int64_t>(stride_);
  std::uint64_t count = 0;
  for (const axis_stretch& each : stretches_of(along, named, extent)) {
    const std::int64_t low = std::max(first_, each.begin - reach.first);
    const std::int64_t high = std::min(last_position, each.end - 1 - reach.last);
    if (low > high) continue;
    const std::int64_t begin = divide_down(low - first_ + stride - 1, stride);
    const std::int64_t last = divide_down(high - first_, stride);
    if (begin > last) continue;
    count += static_cast<std::uint64_t>(last - begin + 1);
    begins_.push_back(static_cast<std::uint64_t>(begin));
    ends_.push_back(count);
  }
  if (count == 0)
    throw usage_error{"make_windows: no window fits along " + named +
                      ": the excluded ranges leave no room for " + std::to_string(wide) +
                      " elements; exclude less, or make the windows smaller"};
}

std::int64_t window_positions::operator[](std::uint64_t number) const noexcept {
  const auto run =
      ends_.size() == 1
          ? std::size_t{0}
          : static_cast<std::size_t>(std::ranges::upper_bound(ends_, number) - ends_.begin());
  const std::uint64_t before = run == 0 ? 0 : ends_[run - 1];
  return first_ + static_cast<std::int64_t>((begins_[run] + number - before) * stride_);
}

}  // namespace feedline::detail
