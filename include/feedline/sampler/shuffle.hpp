#pragma once

#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// For `shuffle::within`: number of chunks of a dataset that are mixed with each other.
struct chunk_window {
  std::uint64_t count = 0;
};

/// A window of about `count` chunks. 0: half as many as the dataset caches, so that the current and
/// the next window both fit; all chunks if the dataset caches all of them.
[[nodiscard]] constexpr chunk_window chunks(std::uint64_t count = 0) noexcept {
  return {count};
}

/// Every sample once, in an order drawn by a seeded bijection for each epoch; O(1) memory.
///
/// The order depends on (seed, epoch, number of samples) alone. It is the same on every platform
/// and is kept across versions of feedline: changing it would be a major version. Orders of
/// different epochs differ; the order of one epoch is always the same.
///
/// If samples are stored in chunks that must be read whole (`dataset::chunks`), such an order reads
/// each chunk many times. Use `within` to avoid that:
///
///     feedline::shuffle{.seed = 42, .within = feedline::chunks(1024)}
///
/// The chunks are then put in random order and divided into windows of about that many chunks;
/// sizes of windows differ by at most one chunk. The samples of each window are mixed. So each
/// chunk is read once, if the dataset caches two windows. The order then depends only on (seed,
/// epoch, number of samples, samples in a chunk, number of windows), and is kept across versions
/// too. The number of windows is the number of chunks divided by `within`, rounded. If samples are
/// stored in random order, little mixing is lost. If the samples of a chunk are alike (of one
/// class), the variance of a batch's composition is 1 + (B - 1) / W times as large as in a full
/// shuffle, for batches of B samples and windows of W chunks. If the window has all chunks, or
/// chunks have one sample, the result is a full shuffle.
///
/// Each rank of a `shard` takes a part of every batch, and so a part of every chunk: each rank
/// reads all chunks. Use `lanes` to avoid that:
///
///     feedline::shuffle{.seed = 42, .within = feedline::chunks(1024), .lanes = 64}
///
/// The chunks are then divided into lanes, each with windows of 1024 / 64 chunks. A global batch
/// takes equal parts of all lanes, lane after lane. So each rank reads 64 / world whole lanes.
/// Sizes of lanes differ by at most one chunk; the ranks share the samples that remain at the end,
/// so they may read other ranks' chunks for an epoch's last batches. A rank needs memory for two
/// windows of its lanes, 2 × 1024 / world chunks. The global batches are the same for every world.
/// If the world does not divide the number of lanes, ranks share some lanes. The order then also
/// depends on the number of lanes and on the global batch's size. If samples are not stored in
/// chunks, lanes change nothing.
struct shuffle {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  std::optional<chunk_window> within = std::nullopt;  ///< empty: all samples are mixed
  /// Number of lanes. Must divide the size of the global batch; best a multiple of the world.
  std::uint64_t lanes = 1;

  /// @throws usage_error if `within` is set, because it needs a dataset. Use `bind`, or give the
  /// sampler to a loader.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// The order for a dataset; a loader calls this. Logs a warning if batches would be poorly mixed,
  /// or chunks read more than once.
  /// @throws usage_error if `lanes` is 0, is more than 1 without a `within`, or does not divide the
  /// batch size.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
