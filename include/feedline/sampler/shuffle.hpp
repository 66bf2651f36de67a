#pragma once

#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// For `shuffle::within`: how many of a dataset's chunks are mixed with each other.
struct chunk_window {
  std::uint64_t count = 0;
};

/// About so many chunks. 0: as many as the dataset keeps in memory twice over, so that it holds a
/// window and the one behind it.
[[nodiscard]] constexpr chunk_window chunks(std::uint64_t count = 0) noexcept {
  return {count};
}

/// Every sample once, in an order that a seeded bijection draws for each epoch; O(1) memory.
///
/// The order depends on (seed, epoch, number of samples) alone. It is the same on every platform
/// and is kept across versions of feedline: a change of it would be a major version. Two epochs'
/// orders differ; the same epoch's never.
///
/// Where samples are stored in chunks that must be read whole (`dataset::chunks`), such an order
/// reads each chunk again and again. With `within` it is
///
///     feedline::shuffle{.seed = 42, .within = feedline::chunks(1024)}
///
/// Then the chunks stand in random order and are cut into windows of about that many, equal to
/// within one chunk; a window's samples are mixed, and each window comes after the other. So each
/// chunk is read once, if the dataset keeps two windows. The order then depends on (seed, epoch,
/// number of samples, samples a chunk, number of windows: chunks over `within`, rounded) alone, and
/// is kept across versions too. If samples lie in no order on the disk, little is lost; if each
/// chunk holds samples alike (of one class), the make-up of batches of B varies 1 + (B - 1) / W
/// times as much as in a full shuffle. With as many chunks as there are, or chunks of one sample,
/// it is a full shuffle.
///
/// Ranks of a `shard` each take a part of every batch, and so read a part of every chunk: each rank
/// reads all chunks. With
///
///     feedline::shuffle{.seed = 42, .within = feedline::chunks(1024), .lanes = 64}
///
/// the chunks are dealt into lanes, each with windows of 1024 / 64 chunks of its own, and a global
/// batch takes equal parts of all lanes, lane after lane. So each rank reads 64 / world whole
/// lanes, and no chunk of another rank's, but in the epoch's last batches: lanes are equal to
/// within a chunk, and what they have left is shared equally. A rank needs room for two of its
/// windows, 2 × 1024 / world chunks. The global batches are the same for every world; where it does
/// not divide the lanes, ranks share some. The order then depends on the number of lanes and the
/// global batch's size too. Where samples lie in no chunks, lanes change nothing.
struct shuffle {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  std::optional<chunk_window> within = std::nullopt;  ///< empty: all samples are mixed
  std::uint64_t lanes = 1;  ///< that divide the global batch; a multiple of the world

  /// @throws usage_error if there is a `within`: it needs a dataset. `bind`, or give it to a
  /// loader.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error as `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// The order for a dataset; a loader asks for it. Logs a warning where batches will be poorly
  /// mixed, or chunks read more than once.
  /// @throws usage_error if there are 0 lanes, several without a `within`, or the batch size is no
  /// multiple of them.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
