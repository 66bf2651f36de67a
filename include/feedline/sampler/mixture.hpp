#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How `mixture` draws.
struct mixture_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Positions in an epoch. 0: as many as the parts have samples together.
  std::uint64_t epoch_size = 0;
};

/// Several datasets in given proportions, over what `concatenate` makes of them:
///
///     feedline::loader loader{feedline::concatenate({web, books}),
///                             feedline::mixture{{web, books}, {0.7, 0.3}, {.seed = 42}}, gpu,
///                             {.batch_size = 256}};
///
/// Proportions are exact: of N positions, each epoch has `counts()` from each part. That is N ×
/// weight / Σ weights, rounded down; what is missing to N goes to the parts with the largest
/// remainders, one each, to the earlier one among equals. The parts are spread evenly: the first P
/// positions have each part in proportion to within ⌈log2 parts⌉, where P is a multiple of 64.
/// Within each 64 positions the parts stand in random order.
///
/// The samples of a part come in random order. None comes again before all others of its part have
/// come; then they come in another order. The next epoch continues where this one left each part.
/// So a small part with a large weight comes several times an epoch, and of a large part with a
/// small weight each epoch has other samples. A part's sequence begins again where epoch × count is
/// 2^64 or more.
///
/// By arithmetic, in 16 bytes a part. A draw is O(log parts). The order depends on (seed, epoch,
/// epoch size, sizes, weights) alone, is the same on every platform, and is kept across versions.
class mixture {
 public:
  /// @param sizes Samples of each part, in the order in which they are concatenated.
  /// @param weights One for each part. A part of weight 0 is left out, and may be empty.
  /// @throws usage_error if there is no part, there are more or fewer weights than parts, a weight
  ///         is negative, infinite or not a number, all are 0, a part with a weight is empty, or
  ///         the epoch is so short that a part with a weight has no position in it.
  mixture(const std::vector<std::uint64_t>& sizes, const std::vector<double>& weights,
          const mixture_options& options = {});

  /// @throws usage_error as above, or if a part is null.
  mixture(const std::vector<dataset_ptr>& parts, const std::vector<double>& weights,
          const mixture_options& options = {});

  /// Positions in an epoch.
  /// @throws usage_error if the dataset has another number of samples than the parts together.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error as `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// Positions of an epoch that each part has.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;

 private:
  void write_block(std::uint64_t epoch, std::uint64_t block, std::uint64_t first,
                   std::span<sample_index> out) const;

  std::uint64_t seed_;
  std::vector<std::uint64_t> starts_;  ///< each part's first sample; and the end
  std::vector<std::uint64_t> before_;  ///< an epoch's positions of all parts before; and all
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
