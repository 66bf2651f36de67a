#include "formats/parquet/row_places.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace feedline::detail {
namespace {

/// More groups are not counted: each row is compared with half of them.
constexpr std::size_t max_counted = 16;

struct group_count {
  std::uint32_t group;
  std::size_t places;
};

/// Groups in the order in which they occur.
class counted_groups {
 public:
  /// @return Index of the group; `max_counted`: there are too many.
  std::size_t find_or_add(std::uint32_t group) noexcept {
    std::size_t i = 0;
    while (i < count_ && all_[i].group != group) ++i;
    if (i == count_ && count_ < max_counted) all_[count_++] = {group, 0};
    return i;
  }
  [[nodiscard]] std::span<group_count> all() noexcept { return std::span{all_}.first(count_); }

 private:
  std::array<group_count, max_counted> all_ = {};
  std::size_t count_ = 0;
};

}  // namespace

void sort_by_group(std::vector<row_place>& places, std::vector<row_place>& memory) {
  counted_groups counted;
  for (const row_place& each : places) {
    const std::size_t i = counted.find_or_add(each.group);
    if (i == max_counted) {
      std::ranges::stable_sort(places, {}, &row_place::group);
      return;
    }
    ++counted.all()[i].places;
  }
  std::ranges::sort(counted.all(), {}, &group_count::group);
  std::size_t begin = 0;
  for (group_count& each : counted.all()) begin += std::exchange(each.places, begin);
  memory.resize(places.size());
  for (const row_place& each : places)
    memory[counted.all()[counted.find_or_add(each.group)].places++] = each;
  std::swap(places, memory);
}

}  // namespace feedline::detail
