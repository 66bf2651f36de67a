#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `weighted`.
struct weighted_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Positions in an epoch. 0: the number of weights, allowed only with replacement.
  std::uint64_t epoch_size = 0;
  /// Whether a sample may come more than once in an epoch.
  bool replacement = true;
};

/// Draws samples in proportion to their weights:
///
///     feedline::loader loader{train, feedline::weighted{weights, {.seed = 42}}, gpu,
///                             {.batch_size = 256}};
///
/// With replacement, each position is drawn independently: sample i with probability w[i] / Σw, to
/// within 2^-30 of an average sample's probability. A draw is O(1), by the alias method (A. Walker,
/// ACM TOMS 1977; M. Vose, IEEE TSE 1991; built by the sweep of L. Hübschle-Schneider, P. Sanders,
/// "Parallel Weighted Random Sampling", ESA 2019). The table takes 8 bytes a sample.
///
/// Without replacement, an epoch of m positions has m different samples, in random order. Sample i
/// is among them with probability m × w[i] / Σw, to within 2^-29. If that is more than 1, the
/// sample is in every epoch, and the others share the rest in the same way. So a sample of twice
/// the weight is in twice as many epochs. Its position within an epoch does not depend on its
/// weight. A draw is O(1) on average, by systematic sampling (W. Madow, 1949) over groups of
/// samples that each epoch arranges again. The table takes 12 bytes a sample.
///
/// Copies share the table. Its construction needs another 8 bytes a sample (32 without
/// replacement). A sample of weight 0 is never drawn, nor is one whose weight is below 2^-63 of the
/// largest. Without replacement, the largest is that of the samples that are not in every epoch.
/// The order depends on (seed, epoch, epoch size, replacement, weights) alone. It is computed in
/// integers, so it is the same on every platform, and is kept across versions.
class weighted {
 public:
  /// @param weights One for each sample of the dataset. Only the table is kept.
  /// @throws usage_error if there is no weight, one is negative, infinite or not a number, all are
  /// 0, or there are 2^32 or more; without replacement, if the epoch's size is 0 or there are fewer
  /// weights above 0 than that.
  explicit weighted(std::span<const double> weights, const weighted_options& options = {});

  /// @param of Dataset whose field `field_name` contains the weights: one number (integer, f32 or
  /// f64) a sample. All are read now. The weights may be in a file: `weighted{open_npy("w.npy",
  /// "w"), "w"}`.
  /// @throws usage_error as above, or if there is no such field or it has another type or shape;
  /// dataset_error if it cannot be read.
  weighted(const dataset_ptr& of, const std::string& field_name,
           const weighted_options& options = {});

  /// Positions in an epoch.
  /// @throws usage_error if the dataset's number of samples differs from the number of weights.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const { return order_.size(samples); }
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    order_.indices(samples, epoch, first, out);
  }

  /// Size of the table.
  [[nodiscard]] std::size_t table_bytes() const noexcept { return table_bytes_; }

 private:
  explicit weighted(std::pair<sampler, std::size_t> order)
      : order_{std::move(order.first)}, table_bytes_{order.second} {}

  sampler order_;
  std::size_t table_bytes_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
