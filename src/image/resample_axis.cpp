#include "image/resample_axis.hpp"

#include <algorithm>
#include <cmath>

namespace feedline::detail {

void resample_axis::plan(std::uint32_t from, std::uint32_t to, std::uint32_t begin,
                         std::uint32_t count) {
  const request wanted{from, to, begin, count};
  if (wanted == wanted_) return;
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(scale, 1.0);
  const double widest = std::ceil(2 * reach);  // as many centres of elements lie under the triangle
  taps_ = widest < static_cast<double>(from) ? static_cast<std::uint32_t>(widest) : from;
  first_.resize(count);
  weights_.assign(std::size_t{count} * taps_, 0);

  for (std::uint32_t i = 0; i < count; ++i) {
    const double centre = (static_cast<double>(begin + i) + 0.5) * scale;
    const double lowest = std::max(0.0, std::floor(centre - reach + 0.5));
    const auto first = std::min(static_cast<std::uint32_t>(lowest), from - taps_);
    const auto weight_at = [&](std::uint32_t tap) {
      const double distance = std::abs(static_cast<double>(first + tap) + 0.5 - centre) / reach;
      return std::max(0.0, 1.0 - distance);
    };
    double sum = 0;
    for (std::uint32_t tap = 0; tap < taps_; ++tap) sum += weight_at(tap);
    // What has been given out, not each weight, is rounded: so all sum up, and no error adds up.
    double so_far = 0;
    std::int32_t given = 0;
    for (std::uint32_t tap = 0; tap < taps_; ++tap) {
      so_far += weight_at(tap);
      const auto due = static_cast<std::int32_t>(so_far / sum * (1 << weight_bits) + 0.5);
      weights_[std::size_t{i} * taps_ + tap] = static_cast<std::int16_t>(due - given);
      given = due;
    }
    first_[i] = first;
  }
  wanted_ = wanted;
}

}  // namespace feedline::detail
