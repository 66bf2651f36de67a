#include <feedline/sampler/scheduled_mixture.hpp>

#include "sampler/bijection.hpp"
#include "sampler/draws.hpp"
#include "sampler/mixture/mixture_tables.hpp"
#include "sampler/mixture/part_order.hpp"
#include "sampler/ranked.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

using detail::u128;

/// Consecutive positions whose parts are in random order. Blocks are counted from the last point or
/// epoch's beginning, so that none has positions of two stretches or epochs.
struct block {
  block(const detail::mixture_tables& tables, std::uint64_t epoch, position at)
      : stretch{tables.stretch_at(u128{epoch} * tables.epoch_size + at.value)} {
    const u128 epoch_begin = u128{epoch} * tables.epoch_size;
    const u128 place = epoch_begin + at.value;
    const u128 cut = std::max(epoch_begin, u128{stretch.begin});
    begin = cut + (place - cut) / detail::block_places * detail::block_places;
    u128 end = std::min(epoch_begin + tables.epoch_size, begin + detail::block_places);
    if (stretch.length != 0) end = std::min(end, u128{stretch.begin} + stretch.length);
    count = static_cast<std::size_t>(end - begin);
    first = static_cast<std::size_t>(place - begin);
  }

  const detail::mixture_stretch& stretch;
  u128 begin;
  std::size_t count;
  std::size_t first;  ///< index of the position that is asked for
};

/// @param out Gets the samples at the block's positions from `first` on.
void write(const detail::mixture_tables& tables, const block& of, std::span<sample_index> out) {
  std::array<sample_index, detail::block_places> order;
  const auto written = std::span{order}.first(of.count);
  const auto low = static_cast<std::uint64_t>(of.begin);
  const auto high = static_cast<std::uint64_t>(of.begin >> 64U);
  detail::bijection{of.count, detail::epoch_key(tables.seed ^ detail::block_role, low), high}
      .evaluate(position{0}, written);
  std::array<detail::ranked, detail::block_places> at;
  for (std::size_t i = 0; i < of.count; ++i)
    at[i] = of.stretch.at(of.begin - of.stretch.begin + order[i].value);
  detail::write_by_part(std::span{at}.first(of.count), written,
                        [&](std::uint64_t part, std::uint64_t rank, std::span<sample_index> run) {
                          detail::write_passes(
                              tables.starts[part + 1] - tables.starts[part],
                              detail::epoch_key(tables.seed ^ detail::part_role, part), rank, run);
                          for (sample_index& sample : run) sample.value += tables.starts[part];
                        });
  std::ranges::copy(written.subspan(of.first, out.size()), out.begin());
}

}  // namespace

scheduled_mixture::scheduled_mixture(const std::vector<std::uint64_t>& sizes,
                                     const std::vector<mixture_point>& points,
                                     const scheduled_mixture_options& options)
    : tables_{std::make_shared<const detail::mixture_tables>(sizes, points, options)} {}

scheduled_mixture::scheduled_mixture(const std::vector<dataset_ptr>& parts,
                                     const std::vector<mixture_point>& points,
                                     const scheduled_mixture_options& options)
    : scheduled_mixture{detail::sizes_of("scheduled_mixture", parts), points, options} {}

std::uint64_t scheduled_mixture::size(std::uint64_t samples) const {
  detail::require_samples("scheduled_mixture", "samples in the parts", tables_->starts.back(),
                          samples);
  return tables_->epoch_size;
}

void scheduled_mixture::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                                std::span<sample_index> out) const {
  (void)size(samples);
  while (!out.empty()) {
    const block of{*tables_, epoch, first};
    const auto run = out.first(std::min(out.size(), of.count - of.first));
    write(*tables_, of, run);
    out = out.subspan(run.size());
    first.value += run.size();
  }
}

std::vector<std::uint64_t> scheduled_mixture::counts(std::uint64_t epoch) const {
  const u128 begin = u128{epoch} * tables_->epoch_size;
  std::vector<std::uint64_t> counts;
  for (std::uint64_t part = 0; part < tables_->parts(); ++part) {
    const auto before = [&](u128 place) {
      const auto& stretch = tables_->stretch_at(place);
      return stretch.count(part, place - stretch.begin);
    };
    counts.push_back(before(begin + tables_->epoch_size) - before(begin));
  }
  return counts;
}

std::vector<double> scheduled_mixture::weights(std::uint64_t epoch, position at) const {
  const u128 place = u128{epoch} * tables_->epoch_size + at.value;
  const auto& stretch = tables_->stretch_at(place);
  const auto number = static_cast<std::size_t>(&stretch - tables_->stretches.data());
  const double share = stretch.ending.empty() ? 0
                                              : static_cast<double>(place - stretch.begin) /
                                                    static_cast<double>(stretch.length);
  std::vector<double> weights;
  for (std::size_t part = 0; part < tables_->parts(); ++part) {
    const auto from = static_cast<double>(tables_->weights[number][part]);
    const double to = share == 0 ? from : static_cast<double>(tables_->weights[number + 1][part]);
    weights.push_back((from + (to - from) * share) * 0x1p-62);
  }
  return weights;
}

std::uint64_t scheduled_mixture::identity() const noexcept {
  return tables_->identity;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
