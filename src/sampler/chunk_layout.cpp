#include "sampler/chunk_layout.hpp"

#include "detail/arithmetic.hpp"
#include "detail/divider.hpp"
#include "sampler/draws.hpp"

#include <array>

namespace feedline::detail {
namespace {

/// Make the keys of the two bijections differ from those of plain `shuffle`; odd, otherwise
/// arbitrary.
constexpr std::uint64_t chunk_role = 0xC2B2'AE3D'27D4'EB4F;
constexpr std::uint64_t window_role = 0x1656'67B1'9E37'79F9;

constexpr std::size_t block_samples = 256;

}  // namespace

chunk_layout::chunk_layout(std::uint64_t seed, std::uint64_t epoch, std::uint64_t samples,
                           std::uint64_t chunk_samples, std::uint64_t windows,
                           std::uint64_t lanes) noexcept
    : chunk_samples_{chunk_samples},
      chunks_{divide_up(samples, chunk_samples)},
      max_windows_{std::min(windows, chunks_)},
      lanes_{chunks_, lanes},
      windows_{lanes_.fewest, std::max<std::uint64_t>(1, std::min(max_windows_, lanes_.fewest))},
      missing_{chunks_ * chunk_samples - samples},  // the product may wrap: the difference does not
      places_{chunks_, seed ^ chunk_role, epoch},
      window_seed_{epoch_key(seed ^ window_role, epoch)} {
  if (missing_ == 0) return;
  short_place_ = places_.place_of(chunks_ - 1);
  short_end_ = rows_before(window_at(short_place_).end);
}

chunk_layout::window chunk_layout::window_at(std::uint64_t place) const noexcept {
  const std::uint64_t lane = lanes_.fewest == chunks_ ? 0 : lanes_.of(place);
  const std::uint64_t begin = lanes_.begin(lane);
  const std::uint64_t chunks = lanes_.size(lane);
  const equal_parts windows =
      chunks == lanes_.fewest ? windows_ : equal_parts{chunks, std::min(max_windows_, chunks)};
  const std::uint64_t number = windows.of(place - begin);
  return {lane * max_windows_ + number, begin + windows.begin(number),
          begin + windows.begin(number + 1)};
}

chunk_layout::window chunk_layout::window_with(std::uint64_t row) const noexcept {
  // The row as it would be, were the short chunk as long as the others, if that matters.
  const bool behind = missing_ != 0 && row >= short_end_;
  return window_at((behind ? row + missing_ : row) / chunk_samples_);
}

chunk_layout::extent chunk_layout::window_of(std::uint64_t row) const noexcept {
  const window of = window_with(row);
  return {of.first, of.end, rows_before(of.first), rows_before(of.end)};
}

std::size_t chunk_layout::write(std::uint64_t first, std::span<sample_index> out) const noexcept {
  return write_rows<false>(first, out);
}

std::size_t chunk_layout::write_places(std::uint64_t first,
                                       std::span<sample_index> out) const noexcept {
  return write_rows<true>(first, out);
}

template <bool AsPlaces>
std::size_t chunk_layout::write_rows(std::uint64_t first,
                                     std::span<sample_index> out) const noexcept {
  const window of = window_with(first);
  const std::uint64_t begin = rows_before(of.first);
  const std::uint64_t end = rows_before(of.end);
  const auto run = out.first(std::min<std::uint64_t>(out.size(), end - first));
  bijection{end - begin, window_seed_, of.number}.evaluate(position{first - begin}, run);
  for (std::size_t at = 0; at < run.size(); at += block_samples)
    to_samples<AsPlaces>(of.first, begin, end - begin + missing_,
                         run.subspan(at, std::min(block_samples, run.size() - at)));
  return run.size();
}

/// Maps numbers within a window, whose chunks are numbered in order, to samples.
/// @param numbers Upper bound of the numbers, even if the short chunk were full.
template <bool AsPlaces>
void chunk_layout::to_samples(std::uint64_t first_place, std::uint64_t begin, std::uint64_t numbers,
                              std::span<sample_index> run) const noexcept {
  // Numbers from here on are after the short chunk, if that is in this window.
  const std::uint64_t behind_short = missing_ != 0 && short_place_ >= first_place
                                         ? rows_before(short_place_ + 1) - begin
                                         : UINT64_MAX;
  std::array<std::uint64_t, block_samples> row{};
  const auto split = [&](auto divided) {
    for (std::size_t i = 0; i < run.size(); ++i) {
      std::uint64_t number = run[i].value;
      number += number >= behind_short ? missing_ : 0;
      const std::uint64_t chunk = divided(number);
      row[i] = number - chunk * chunk_samples_;
      run[i] = sample_index{first_place + chunk};
    }
  };
  if (numbers <= divider::limit) {  // nearly always, and four times as fast
    const divider by{static_cast<std::uint32_t>(chunk_samples_)};
    split([by](std::uint64_t number) { return by.quotient(static_cast<std::uint32_t>(number)); });
  } else {
    split([this](std::uint64_t number) { return number / chunk_samples_; });
  }
  if constexpr (!AsPlaces) places_.evaluate(run);
  for (std::size_t i = 0; i < run.size(); ++i)
    run[i] = sample_index{run[i].value * chunk_samples_ + row[i]};
}

std::uint64_t chunk_layout::shortest_lane() const noexcept {
  // A lane with a chunk more and the short one is no shorter than those with a chunk less.
  const bool has_short = missing_ != 0 && lanes_.of(short_place_) >= lanes_.longer;
  return lanes_.fewest * chunk_samples_ - (has_short ? missing_ : 0);
}

std::uint64_t chunk_layout::left_row(std::uint64_t taken, std::uint64_t at) const noexcept {
  // Computed as if the short chunk were as long as the others.
  if (missing_ != 0) {
    const std::uint64_t lane = lanes_.of(short_place_);
    if (at >= lane_begin(lane + 1) - (lane + 1) * taken) at += missing_;
  }
  const std::uint64_t left = lanes_.fewest * chunk_samples_ - taken;
  const std::uint64_t in_longer = lanes_.longer * (left + chunk_samples_);
  const std::uint64_t lane =
      at < in_longer ? at / (left + chunk_samples_) : lanes_.longer + (at - in_longer) / left;
  const std::uint64_t before = lane * left + std::min(lane, lanes_.longer) * chunk_samples_;
  return lane_begin(lane) + taken + (at - before);
}

}  // namespace feedline::detail
