#include "sampler/chunk_order.hpp"

#include <feedline/detail/splitmix64.hpp>

#include "detail/arithmetic.hpp"
#include "detail/divider.hpp"
#include "sampler/bijection.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

namespace feedline::detail {
namespace {

/// What tells the keys of the two bijections from those of plain `shuffle`; odd, otherwise
/// arbitrary.
constexpr std::uint64_t chunk_role = 0xC2B2'AE3D'27D4'EB4F;
constexpr std::uint64_t window_role = 0x1656'67B1'9E37'79F9;

constexpr std::size_t block_samples = 256;

/// What lies where in one epoch. "Place": of a chunk, in the epoch's order of chunks.
class epoch_layout {
 public:
  epoch_layout(std::uint64_t seed, std::uint64_t epoch, std::uint64_t samples,
               std::uint64_t chunk_samples, std::uint64_t windows) noexcept
      : chunk_samples_{chunk_samples},
        chunks_{divide_up(samples, chunk_samples)},
        windows_{std::min(windows, chunks_)},
        fewest_{chunks_ / windows_},
        longer_{chunks_ % windows_},
        missing_{chunks_ * chunk_samples -
                 samples},  // the product may wrap: the difference does not
        places_{chunks_, seed ^ chunk_role, epoch},
        window_seed_{mix(mix(seed ^ window_role) + epoch * golden_gamma)} {
    if (missing_ != 0) short_place_ = places_.place_of(chunks_ - 1);
  }

  /// Writes the samples at some positions of one window from `first` on, as many as it has of them
  /// and `out` takes; says how many.
  std::size_t write(std::uint64_t first, std::span<sample_index> out) const noexcept {
    // The position as it would be, were the short chunk as long as the others, if that matters.
    const bool behind = missing_ != 0 && first >= rows_before(window_end(window_of(short_place_)));
    const std::uint64_t window = window_of((behind ? first + missing_ : first) / chunk_samples_);

    const std::uint64_t first_place = window_begin(window);
    const std::uint64_t begin = rows_before(first_place);
    const std::uint64_t end = rows_before(window_end(window));
    const auto run = out.first(std::min<std::uint64_t>(out.size(), end - first));
    bijection{end - begin, window_seed_, window}.evaluate(position{first - begin}, run);
    for (std::size_t at = 0; at < run.size(); at += block_samples)
      to_samples(first_place, begin, end - begin + missing_,
                 run.subspan(at, std::min(block_samples, run.size() - at)));
    return run.size();
  }

 private:
  /// The first place of a window, and of the one behind it.
  std::uint64_t window_begin(std::uint64_t window) const noexcept {
    return window * fewest_ + std::min(window, longer_);
  }
  std::uint64_t window_end(std::uint64_t window) const noexcept { return window_begin(window + 1); }

  std::uint64_t window_of(std::uint64_t place) const noexcept {
    const std::uint64_t in_longer = longer_ * (fewest_ + 1);
    return place < in_longer ? place / (fewest_ + 1) : longer_ + (place - in_longer) / fewest_;
  }

  /// Samples of all chunks before a place.
  std::uint64_t rows_before(std::uint64_t place) const noexcept {
    return place * chunk_samples_ - (place > short_place_ ? missing_ : 0);
  }

  /// From numbers within a window, whose chunks are told off in order of place, to samples.
  /// @param numbers What they are below, even if the short chunk were full.
  void to_samples(std::uint64_t first_place, std::uint64_t begin, std::uint64_t numbers,
                  std::span<sample_index> run) const noexcept {
    // Numbers from here on lie behind the short chunk, if that is in this window.
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
    if (numbers <= divider::limit) {  // as good as always, and four times as fast
      const divider by{static_cast<std::uint32_t>(chunk_samples_)};
      split([by](std::uint64_t number) { return by.quotient(static_cast<std::uint32_t>(number)); });
    } else {
      split([this](std::uint64_t number) { return number / chunk_samples_; });
    }
    places_.evaluate(run);
    for (std::size_t i = 0; i < run.size(); ++i)
      run[i] = sample_index{run[i].value * chunk_samples_ + row[i]};
  }

  std::uint64_t chunk_samples_;
  std::uint64_t chunks_;
  std::uint64_t windows_;
  std::uint64_t fewest_;   ///< chunks of a window,
  std::uint64_t longer_;   ///< and of these first windows, one more
  std::uint64_t missing_;  ///< samples that the last chunk is short of the others
  bijection places_;       ///< which chunk stands at a place
  std::uint64_t window_seed_;
  std::uint64_t short_place_ = UINT64_MAX;  ///< of the last chunk, if it is short
};

}  // namespace

void chunk_order::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                          std::span<sample_index> out) const noexcept {
  assert(first.value <= samples && out.size() <= samples - first.value);
  if (out.empty()) return;
  if (windows_ == 1 || chunk_samples_ == 1 || chunk_samples_ >= samples)
    return bijection{samples, seed_, epoch}.evaluate(first, out);
  const epoch_layout layout{seed_, epoch, samples, chunk_samples_, windows_};
  for (std::uint64_t next = first.value; !out.empty();) {
    const std::size_t written = layout.write(next, out);
    out = out.subspan(written);
    next += written;
  }
}

}  // namespace feedline::detail
