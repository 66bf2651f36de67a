#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `mixture`.
struct mixture_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Positions in an epoch. 0: total number of samples of all parts.
  std::uint64_t epoch_size = 0;
};

/// Draws from several datasets in given proportions. Use it with the `concatenate` of these
/// datasets:
///
///     feedline::loader loader{feedline::concatenate({web, books}),
///                             feedline::mixture{{web, books}, {0.7, 0.3}, {.seed = 42}}, gpu,
///                             {.batch_size = 256}};
///
/// Proportions are exact: each epoch of N positions has `counts()` from each part. The count is N ×
/// weight / Σ weights, rounded down. The remaining positions go to the parts with the largest
/// remainders, one each; among equal ones the earlier part comes first. The parts are spread
/// evenly: if P is a multiple of 64, the number of samples of each part in the first P positions
/// differs from its exact share by at most ⌈log2 parts⌉. Within each 64 positions the parts come in
/// random order.
///
/// The samples of a part come in random order. No sample comes again before all others of its part
/// have come; then they come in another order. The next epoch continues where this one left each
/// part. So a small part with a large weight is repeated several times an epoch, and a large part
/// with a small weight has other samples in each epoch. If epoch × count is 2^64 or more, a part's
/// sequence starts again.
///
/// The order is computed from 16 bytes a part. A draw is O(log parts). The order depends on (seed,
/// epoch, epoch size, sizes, weights) alone, is the same on every platform, and is kept across
/// versions.
class mixture {
 public:
  /// @param sizes Number of samples of each part, in the order of the concatenation.
  /// @param weights One for each part. A part of weight 0 is not drawn, and may be empty.
  /// @throws usage_error if there is no part, the numbers of weights and parts differ, a weight is
  /// negative, infinite or not a number, all are 0, a part with a weight is empty, or the epoch is
  /// so short that a part with a weight gets no position.
  mixture(const std::vector<std::uint64_t>& sizes, const std::vector<double>& weights,
          const mixture_options& options = {});

  /// @throws usage_error as above, or if a part is null.
  mixture(const std::vector<dataset_ptr>& parts, const std::vector<double>& weights,
          const mixture_options& options = {});

  /// Positions in an epoch.
  /// @throws usage_error if the dataset's number of samples differs from that of all parts
  /// together.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// Number of positions in an epoch for each part.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;

 private:
  void write_block(std::uint64_t epoch, std::uint64_t block, std::uint64_t first,
                   std::span<sample_index> out) const;

  std::uint64_t seed_;
  std::vector<std::uint64_t> starts_;  ///< each part's first sample, then the end
  /// For each part, the number of positions in an epoch of all parts before it; then the total.
  std::vector<std::uint64_t> before_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
