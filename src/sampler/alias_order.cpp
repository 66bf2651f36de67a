#include "sampler/alias_order.hpp"

#include "sampler/draws.hpp"
#include "sampler/weights.hpp"

#include <utility>

namespace feedline::detail {
namespace {

constexpr std::uint64_t alias_role = 0x8EBC'6AF0'9C88'C6E3;
constexpr std::uint64_t height = std::uint64_t{1} << 32;

}  // namespace

alias_order::alias_order(std::vector<std::uint64_t> weights, std::uint64_t seed,
                         std::uint64_t epoch_size)
    : seed_{seed ^ alias_role}, epoch_size_{epoch_size != 0 ? epoch_size : weights.size()} {
  const std::size_t count = weights.size();
  divide_among(weights, count * height);
  std::vector<column> columns(count);
  const auto next = [&](std::size_t from, bool high) {
    while (from < count && (weights[from] > height) != high) ++from;
    return from;
  };
  const auto fill = [&](std::size_t at, std::uint64_t own, std::size_t other) {
    if (own == height) other = at;
    columns[at] = {static_cast<std::uint32_t>(own), static_cast<std::uint32_t>(other)};
  };
  // Two sweeps, over samples that fit in their column and over those that do not. The rest of the
  // current high sample is put on top of low ones until it fits itself; then the next high one is
  // put on top of it. The sum is exact, so that no column is left open.
  std::size_t low = next(0, false);
  std::size_t high = next(0, true);
  std::uint64_t left = high < count ? weights[high] : 0;
  while (high < count) {
    if (left > height) {
      fill(low, weights[low], high);
      left -= height - weights[low];
      low = next(low + 1, false);
    } else {
      const std::size_t following = next(high + 1, true);
      fill(high, left, following);
      if (following < count) left = weights[following] - (height - left);
      high = following;
    }
  }
  for (; low < count; low = next(low + 1, false)) fill(low, weights[low], low);
  columns_ = std::make_shared<const std::vector<column>>(std::move(columns));
}

std::uint64_t alias_order::size(std::uint64_t samples) const {
  require_samples("weighted", "weights", columns_->size(), samples);
  return epoch_size_;
}

void alias_order::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                          std::span<sample_index> out) const {
  (void)size(samples);
  const std::vector<column>& columns = *columns_;
  const std::uint64_t key = epoch_key(seed_, epoch);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const u128 place = u128{draw(key, first.value + i)} * columns.size();
    const auto at = static_cast<std::uint64_t>(place >> 64);
    const auto up = static_cast<std::uint32_t>(place >> 32);
    out[i] = {up < columns[at].own ? at : columns[at].other};
  }
}

}  // namespace feedline::detail
