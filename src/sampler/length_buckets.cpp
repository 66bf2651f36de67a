#include "sampler/length_buckets.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace feedline::detail {
namespace {

/// From so many on, sorting all lengths is faster than looking for each boundary.
constexpr std::uint64_t many_buckets = 32;

std::size_t bucket_of(std::uint64_t length, const std::vector<std::uint64_t>& boundaries) noexcept {
  return static_cast<std::size_t>(std::upper_bound(boundaries.begin(), boundaries.end(), length) -
                                  boundaries.begin());
}

}  // namespace

std::vector<std::uint64_t> equal_boundaries(std::vector<std::uint64_t> lengths,
                                            std::uint64_t buckets) {
  std::vector<std::uint64_t> boundaries;
  if (lengths.empty()) return boundaries;
  const std::uint64_t samples = lengths.size();
  buckets = std::min(buckets, samples);
  std::uint64_t last = *std::min_element(lengths.begin(), lengths.end());
  if (buckets >= many_buckets) std::sort(lengths.begin(), lengths.end());
  auto from = lengths.begin();
  for (std::uint64_t i = 1; i < buckets; ++i) {
    // samples × i / buckets, of which the product could wrap
    const std::uint64_t rank = samples / buckets * i + samples % buckets * i / buckets;
    const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(rank);
    if (buckets < many_buckets) std::nth_element(from, at, lengths.end());
    from = at;
    if (*at > last) boundaries.push_back(last = *at);
  }
  return boundaries;
}

length_buckets::length_buckets(std::span<const std::uint64_t> lengths,
                               std::vector<std::uint64_t> boundaries, std::uint64_t max_narrow)
    : boundaries_{std::move(boundaries)}, begins_(boundaries_.size() + 2) {
  for (const std::uint64_t length : lengths) ++begins_[bucket_of(length, boundaries_) + 1];
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];

  if (lengths.size() > max_narrow) table_ = std::vector<std::uint64_t>{};
  std::visit(
      [&](auto& table) {
        using number = typename std::remove_reference_t<decltype(table)>::value_type;
        table.resize(lengths.size());
        std::vector<std::uint64_t> next = begins_;
        for (std::size_t i = 0; i < lengths.size(); ++i)
          table[next[bucket_of(lengths[i], boundaries_)]++] = static_cast<number>(i);
      },
      table_);
}

std::size_t length_buckets::table_bytes() const noexcept {
  return samples() * (table_.index() == 0 ? sizeof(std::uint32_t) : sizeof(std::uint64_t));
}

void length_buckets::to_samples(std::size_t bucket,
                                std::span<sample_index> numbers) const noexcept {
  const std::uint64_t begin = begins_[bucket];
  if (const auto* narrow = std::get_if<0>(&table_))
    for (sample_index& number : numbers) number = {(*narrow)[begin + number.value]};
  else if (const auto* wide = std::get_if<1>(&table_))
    for (sample_index& number : numbers) number = {(*wide)[begin + number.value]};
}

}  // namespace feedline::detail
