#include "sampler/mixture/part_order.hpp"

#include <feedline/error.hpp>

#include <cstddef>

namespace feedline::detail {
namespace {

/// Number of indices of the parts `low` to `middle` among the first `places` of `low` to `high`.
std::uint64_t first_half(std::span<const std::uint64_t> before, std::size_t low, std::size_t middle,
                         std::size_t high, u128 places) noexcept {
  const std::uint64_t all = before[high] - before[low];
  return all == 0 ? 0 : static_cast<std::uint64_t>(places * (before[middle] - before[low]) / all);
}

}  // namespace

std::vector<std::uint64_t> sizes_of(const std::string& who, const std::vector<dataset_ptr>& parts) {
  std::vector<std::uint64_t> sizes;
  for (const dataset_ptr& part : parts) {
    if (!part) throw usage_error{who + ": part " + std::to_string(sizes.size()) + " is null"};
    sizes.push_back(part->size());
  }
  return sizes;
}

std::vector<std::uint64_t> sums_of(const std::string& who,
                                   const std::vector<std::uint64_t>& numbers) {
  std::vector<std::uint64_t> sums{0};
  for (const std::uint64_t number : numbers) {
    sums.push_back(sums.back());
    if (__builtin_add_overflow(sums.back(), number, &sums.back()))
      throw usage_error{who + ": the parts' samples are more than 64 bits can count"};
  }
  return sums;
}

ranked locate(std::span<const std::uint64_t> before, std::uint64_t place) noexcept {
  std::size_t low = 0;
  std::size_t high = before.size() - 1;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    const std::uint64_t of_lower = first_half(before, low, middle, high, place);
    if (first_half(before, low, middle, high, u128{place} + 1) != of_lower) {
      place = of_lower;
      high = middle;
    } else {
      place -= of_lower;
      low = middle;
    }
  }
  return {low, place};
}

std::uint64_t count_before(std::span<const std::uint64_t> before, std::uint64_t part,
                           std::uint64_t places) noexcept {
  std::size_t low = 0;
  std::size_t high = before.size() - 1;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    const std::uint64_t of_lower = first_half(before, low, middle, high, places);
    if (part < middle) {
      places = of_lower;
      high = middle;
    } else {
      places -= of_lower;
      low = middle;
    }
  }
  return places;
}

}  // namespace feedline::detail
