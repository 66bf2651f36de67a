#include <feedline/error.hpp>
#include <feedline/sampler/mixture.hpp>

#include "sampler/draws.hpp"
#include "sampler/mixture/part_order.hpp"
#include "sampler/ranked.hpp"
#include "sampler/weights.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

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

}  // namespace

mixture::mixture(const std::vector<std::uint64_t>& sizes, const std::vector<double>& weights,
                 const mixture_options& options)
    : seed_{options.seed}, starts_{detail::sums_of("mixture", sizes)} {
  before_ = detail::sums_of(
      "mixture",
      counts_of(sizes, weights, options.epoch_size != 0 ? options.epoch_size : starts_.back()));
}

mixture::mixture(const std::vector<dataset_ptr>& parts, const std::vector<double>& weights,
                 const mixture_options& options)
    : mixture{detail::sizes_of("mixture", parts), weights, options} {}

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
  const std::uint64_t begin = block * detail::block_places;
  const std::size_t count = std::min<std::uint64_t>(detail::block_places, before_.back() - begin);
  std::array<sample_index, detail::block_places> order;
  const auto written = std::span{order}.first(count);
  detail::bijection{count, detail::epoch_key(seed_ ^ detail::block_role, epoch), block}.evaluate(
      position{0}, written);
  std::array<detail::ranked, detail::block_places> at;
  for (std::size_t i = 0; i < count; ++i) at[i] = detail::locate(before_, begin + order[i].value);
  detail::write_by_part(std::span{at}.first(count), written,
                        [&](std::uint64_t part, std::uint64_t rank, std::span<sample_index> run) {
                          const std::uint64_t each_epoch = before_[part + 1] - before_[part];
                          detail::write_passes(starts_[part + 1] - starts_[part],
                                               detail::epoch_key(seed_ ^ detail::part_role, part),
                                               epoch * each_epoch + rank, run);
                          for (sample_index& sample : run) sample.value += starts_[part];
                        });
  std::ranges::copy(written.subspan(first, out.size()), out.begin());
}

void mixture::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                      std::span<sample_index> out) const {
  (void)size(samples);
  while (!out.empty()) {
    const std::uint64_t at = first.value % detail::block_places;
    const auto run = out.first(std::min<std::uint64_t>(out.size(), detail::block_places - at));
    write_block(epoch, first.value / detail::block_places, at, run);
    out = out.subspan(run.size());
    first.value += run.size();
  }
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
