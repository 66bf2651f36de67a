#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "detail/arithmetic.hpp"
#include "detail/divider.hpp"
#include "detail/log.hpp"
#include "sampler/bijection.hpp"
#include "sampler/chunk_order.hpp"
#include "sampler/draws.hpp"

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
        window_seed_{epoch_key(seed ^ window_role, epoch)} {
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

namespace feedline {
namespace {

void require_no_window(const shuffle& order) {
  if (order.within)
    throw usage_error{
        "shuffle: `within` counts chunks of a dataset, which is not known here: give the sampler "
        "to a loader as it is, or use what its bind(dataset, batch_size) returns"};
}

/// What a shuffle has to do with.
struct shuffled_chunks {
  std::uint64_t samples;  ///< of a chunk
  std::uint64_t count;
  std::uint64_t kept;
  std::size_t bytes;  ///< of a chunk

  /// Two windows are to be kept: the one that batches are drawn from, and the one behind it.
  [[nodiscard]] std::uint64_t kept_of_window() const noexcept {
    return std::max<std::uint64_t>(1, kept / 2);
  }
};

std::uint64_t windows_of(chunk_window window, const shuffled_chunks& chunks) {
  if (window.count == 0) {
    return chunks.kept >= chunks.count ? 1
                                       : detail::divide_up(chunks.count, chunks.kept_of_window());
  }
  if (window.count >= chunks.count) return 1;
  return std::max<std::uint64_t>(1, (chunks.count + window.count / 2) / window.count);
}

void warn_of_full_shuffle(const shuffled_chunks& chunks) {
  if (chunks.kept >= chunks.count) return;
  detail::log()->warn(
      "shuffle: samples are drawn from all {} chunks, of which the dataset keeps {}, so for nearly "
      "every sample a chunk of {} is read anew. shuffle{{.within = chunks({})}} reads each chunk "
      "once; load_into_memory() reads all of them once",
      chunks.count, chunks.kept, chunks.samples, chunks.kept_of_window());
}

void warn_of_poor_mixing(std::uint64_t windows, const shuffled_chunks& chunks,
                         std::uint64_t batch_size) {
  const std::uint64_t largest = detail::divide_up(chunks.count, windows);
  if (batch_size == 1 || largest / 4 >= batch_size) return;
  const double window = static_cast<double>(chunks.count) / static_cast<double>(windows);
  const double excess = 1 + static_cast<double>(batch_size - 1) / window;
  detail::log()->warn(
      "shuffle: windows of {} chunks are fewer than 4 times the batches' {} samples: if the "
      "samples of a chunk are alike, the make-up of batches varies {:.2f} times as much as in a "
      "full shuffle, 1 + (batch_size - 1) / window. Use chunks({}) or more, or store the samples "
      "in "
      "random order",
      largest, batch_size, excess, 4 * batch_size);
}

void warn_of_repeated_reads(std::uint64_t windows, const shuffled_chunks& chunks) {
  const std::uint64_t largest = detail::divide_up(chunks.count, windows);
  if (chunks.kept >= chunks.count || largest <= chunks.kept / 2) return;
  detail::log()->warn(
      "shuffle: a window of {} chunks and the one behind it take {} bytes, and the dataset keeps "
      "{} chunks of {} bytes: some will be read more than once. Use chunks({}), or let the dataset "
      "keep {} chunks",
      largest, 2 * largest * chunks.bytes, chunks.kept, chunks.bytes, chunks.kept_of_window(),
      2 * largest);
}

}  // namespace

std::uint64_t shuffle::size(std::uint64_t samples) const {
  require_no_window(*this);
  return samples;
}

void shuffle::indices(std::uint64_t samples, std::uint64_t epoch, position first,
                      std::span<sample_index> out) const {
  require_no_window(*this);
  detail::bijection{samples, seed, epoch}.evaluate(first, out);
}

sampler shuffle::bind(const dataset& of, std::uint64_t batch_size) const {
  const chunking stored = of.chunks();
  const std::uint64_t samples = std::max<std::uint64_t>(1, stored.samples);
  const shuffled_chunks chunks{samples, detail::divide_up(of.size(), samples), stored.kept,
                               stored.bytes};
  sampler full = shuffle{.seed = seed};
  if (samples == 1 || chunks.count <= 1) return full;
  const std::uint64_t windows = within ? windows_of(*within, chunks) : 1;
  if (windows == 1) {
    warn_of_full_shuffle(chunks);
    return full;
  }
  warn_of_poor_mixing(windows, chunks, batch_size);
  warn_of_repeated_reads(windows, chunks);
  return detail::chunk_order{seed, samples, windows};
}

}  // namespace feedline
