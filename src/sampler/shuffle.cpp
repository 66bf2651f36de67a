#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "detail/arithmetic.hpp"
#include "detail/log.hpp"
#include "sampler/bijection.hpp"
#include "sampler/chunk_order.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// @throws usage_error if the lanes do not divide the batches, or there is nothing to divide.
void check_lanes(const shuffle& order, std::uint64_t batch_size) {
  const std::string lanes = "shuffle: `lanes` is " + std::to_string(order.lanes);
  if (order.lanes == 0) throw usage_error{lanes + ": say 1 or more"};
  if (order.lanes == 1) return;
  if (!order.within)
    throw usage_error{lanes + ", but there is no `within`: lanes are parts of a window of chunks"};
  if (batch_size % order.lanes != 0)
    throw usage_error{lanes + ", which does not divide batches of " + std::to_string(batch_size) +
                      " samples (of all ranks together): each has as many samples of every lane; "
                      "choose lanes that divide it"};
}

void require_no_window(const shuffle& order) {
  if (order.within)
    throw usage_error{
        "shuffle: `within` counts chunks of a dataset, which is not known here: give the sampler "
        "itself to a loader, or use the result of its bind(dataset, batch_size)"};
}

/// The dataset's chunks as a shuffle uses them.
struct shuffled_chunks {
  std::uint64_t samples;  ///< samples of a chunk
  std::uint64_t count;
  std::uint64_t kept;
  std::size_t bytes;  ///< bytes of a chunk

  /// Two windows must be kept: the one that batches are drawn from, and the next one.
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
      "every sample a chunk of {} is read again. shuffle{{.within = chunks({})}} reads each chunk "
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
      "in random order",
      largest, batch_size, excess, 4 * batch_size);
}

void warn_of_repeated_reads(std::uint64_t windows, const shuffled_chunks& chunks) {
  const std::uint64_t largest = detail::divide_up(chunks.count, windows);
  if (chunks.kept >= chunks.count || largest <= chunks.kept / 2) return;
  detail::log()->warn(
      "shuffle: a window of {} chunks and the next one take {} bytes, and the dataset keeps "
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
  check_lanes(*this, batch_size);
  const chunking stored = of.chunks();
  const std::uint64_t samples = std::max<std::uint64_t>(1, stored.samples);
  const shuffled_chunks chunks{samples, detail::divide_up(of.size(), samples), stored.kept,
                               stored.bytes};
  sampler full = shuffle{.seed = seed};
  if (samples == 1 || chunks.count <= 1) return full;
  const std::uint64_t windows = within ? windows_of(*within, chunks) : 1;
  if (windows == 1 && lanes == 1) {
    warn_of_full_shuffle(chunks);
    return full;
  }
  warn_of_poor_mixing(windows, chunks, batch_size);
  if (lanes == 1) warn_of_repeated_reads(windows, chunks);  // else a rank reads a part of them
  return detail::chunk_order{seed, samples, windows, {lanes, batch_size}};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
