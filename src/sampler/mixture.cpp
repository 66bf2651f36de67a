#include <feedline/error.hpp>
#include <feedline/sampler/mixture.hpp>

#include "sampler/draws.hpp"
#include "sampler/ranked.hpp"
#include "sampler/weights.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr std::uint64_t part_role = 0x8CB9'2BA7'2F3D'8DD7;
constexpr std::uint64_t block_role = 0xEB44'ACCA'B455'D165;
constexpr std::size_t block_places = 64;

std::vector<std::uint64_t> sizes_of(const std::vector<dataset_ptr>& parts) {
  std::vector<std::uint64_t> sizes;
  for (const dataset_ptr& part : parts) {
    if (!part) throw usage_error{"mixture: part " + std::to_string(sizes.size()) + " is null"};
    sizes.push_back(part->size());
  }
  return sizes;
}

/// Sums of the numbers before each, and of all.
std::vector<std::uint64_t> sums_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<std::uint64_t> sums{0};
  for (const std::uint64_t number : numbers) {
    sums.push_back(sums.back());
    if (__builtin_add_overflow(sums.back(), number, &sums.back()))
      throw usage_error{"mixture: the parts' samples are more than 64 bits can count"};
  }
  return sums;
}

/// Positions of an epoch for each part.
std::vector<std::uint64_t> counts_of(const std::vector<std::uint64_t>& sizes,
                                     const std::vector<double>& weights, std::uint64_t epoch_size) {
  if (sizes.empty()) throw usage_error{"mixture: there are no parts; give it one or more"};
  if (sizes.size() != weights.size())
    throw usage_error{"mixture: there are " + std::to_string(sizes.size()) + " parts and " +
                      std::to_string(weights.size()) + " weights; give one for each part"};
  const auto integers = detail::integer_weights("mixture", weights);
  auto counts = detail::largest_remainders(integers, epoch_size);
  for (std::size_t part = 0; part < sizes.size(); ++part) {
    if (weights[part] == 0) continue;
    const std::string name = "mixture: part " + std::to_string(part);
    if (sizes[part] == 0)
      throw usage_error{name + " has no samples, but weight " + std::to_string(weights[part]) +
                        "; give it weight 0, or leave it out"};
    if (counts[part] == 0)
      throw usage_error{name + " has weight " + std::to_string(weights[part]) +
                        ", which is less than one position in an epoch of " +
                        std::to_string(epoch_size) +
                        "; ask for a longer epoch (mixture_options::epoch_size), or give it "
                        "weight 0"};
  }
  return counts;
}

/// The part at an index of an epoch, with its rank: the number of earlier indices that the part
/// has. Halves the parts repeatedly. If some parts together have P indices, the first half of the
/// parts has ⌊P × its count / their count⌋ of them.
detail::ranked locate(std::span<const std::uint64_t> before, std::uint64_t place) noexcept {
  std::size_t low = 0;
  std::size_t high = before.size() - 1;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    const std::uint64_t lower = before[middle] - before[low];
    const std::uint64_t all = before[high] - before[low];
    const auto first_half = [&](detail::u128 places) {
      return static_cast<std::uint64_t>(places * lower / all);
    };
    const std::uint64_t of_lower = first_half(place);
    if (first_half(detail::u128{place} + 1) != of_lower) {
      place = of_lower;
      high = middle;
    } else {
      place -= of_lower;
      low = middle;
    }
  }
  return {low, place};
}

}  // namespace

mixture::mixture(const std::vector<std::uint64_t>& sizes, const std::vector<double>& weights,
                 const mixture_options& options)
    : seed_{options.seed}, starts_{sums_of(sizes)} {
  before_ = sums_of(
      counts_of(sizes, weights, options.epoch_size != 0 ? options.epoch_size : starts_.back()));
}

mixture::mixture(const std::vector<dataset_ptr>& parts, const std::vector<double>& weights,
                 const mixture_options& options)
    : mixture{sizes_of(parts), weights, options} {}

std::uint64_t mixture::size(std::uint64_t samples) const {
  detail::require_samples("mixture", "samples in the parts", starts_.back(), samples);
  return before_.back();
}

std::vector<std::uint64_t> mixture::counts() const {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 1; i < before_.size(); ++i) counts.push_back(before_[i] - before_[i - 1]);
  return counts;
}

/// The parts at 64 consecutive indices are in random order.
/// @param out Gets the parts at the block's positions from `first` on.
void mixture::write_block(std::uint64_t epoch, std::uint64_t block, std::uint64_t first,
                          std::span<sample_index> out) const {
  const std::uint64_t begin = block * block_places;
  const std::size_t count = std::min<std::uint64_t>(block_places, before_.back() - begin);
  std::array<sample_index, block_places> order;
  const auto written = std::span{order}.first(count);
  detail::bijection{count, detail::epoch_key(seed_ ^ block_role, epoch), block}.evaluate(
      position{0}, written);
  std::array<detail::ranked, block_places> at;
  for (std::size_t i = 0; i < count; ++i) at[i] = locate(before_, begin + order[i].value);
  detail::write_by_part(std::span{at}.first(count), written,
                        [&](std::uint64_t part, std::uint64_t rank, std::span<sample_index> run) {
                          const std::uint64_t each_epoch = before_[part + 1] - before_[part];
                          detail::write_passes(starts_[part + 1] - starts_[part],
                                               detail::epoch_key(seed_ ^ part_role, part),
                                               epoch * each_epoch + rank, run);
                          for (sample_index& sample : run) sample.value += starts_[part];
                        });
  std::ranges::copy(written.subspan(first, out.size()), out.begin());
}

void mixture::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                      std::span<sample_index> out) const {
  (void)size(samples);
  while (!out.empty()) {
    const std::uint64_t at = first.value % block_places;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), block_places - at));
    write_block(epoch, first.value / block_places, at, run);
    out = out.subspan(run.size());
    first.value += run.size();
  }
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
