#pragma once

#include <feedline/index.hpp>

#include "sampler/chunk_layout.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace feedline::detail {

/// The number of lanes that chunks are distributed to, and the batches that get equal parts of all
/// lanes.
struct chunk_lanes {
  std::uint64_t count = 1;       ///< at least 1
  std::uint64_t batch_size = 1;  ///< a multiple of `count`
};

/// Every sample once, one window of chunks after another: chunks are in an order drawn for the
/// epoch, are divided into windows of equal numbers of chunks (to within one), and the samples of
/// each window are mixed. A sampler; it implements `shuffle{.within = …}` for a dataset.
///
/// All by arithmetic: one bijection over the chunks and one over each window's samples. If n
/// samples make C chunks, of which the last may be shorter, windows 0 … C mod V - 1 have ⌊C/V⌋ + 1
/// chunks and the others ⌊C/V⌋, in the order of the chunks' bijection. So the epoch's ends are
/// mixed as well as its middle; a sliding window would mix them less.
///
/// With L lanes the chunks, in that order, are divided into L runs, equal to within one chunk, and
/// each run into V windows: lane l's order. A batch of B takes the next B/L samples of each lane,
/// lane after lane, so a reader of whole parts of it reads whole lanes. When the shortest lane has
/// fewer than B/L samples left, the rest of all lanes, up to about a chunk of each, makes the last
/// batches, each with some of every lane, in the lanes' order too.
///
/// The order depends on (seed, epoch, n, samples a chunk, windows) alone, and with lanes on (L, B)
/// too; it is the same on every platform, and is kept across versions. With one lane and one
/// window, it is plain `shuffle`'s.
class chunk_order {
 public:
  /// @param chunk_samples At least 1. @param windows At least 1; no more than there are chunks are
  /// made.
  chunk_order(std::uint64_t seed, std::uint64_t chunk_samples, std::uint64_t windows,
              chunk_lanes lanes = {}) noexcept
      : seed_{seed}, chunk_samples_{chunk_samples}, windows_{windows}, lanes_{lanes} {}

  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const noexcept { return samples; }
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const noexcept;

  /// Where things lie in an epoch, of one lane, if its chunks are cut into several windows.
  [[nodiscard]] std::optional<chunk_layout> layout(std::uint64_t samples,
                                                   std::uint64_t epoch) const noexcept;
  [[nodiscard]] std::uint64_t chunk_samples() const noexcept { return chunk_samples_; }
  [[nodiscard]] std::uint64_t windows() const noexcept { return windows_; }

 private:
  std::uint64_t seed_;
  std::uint64_t chunk_samples_;
  std::uint64_t windows_;
  chunk_lanes lanes_;
};

}  // namespace feedline::detail
