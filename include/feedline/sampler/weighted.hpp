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

/// How `weighted` draws.
struct weighted_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Positions in an epoch. 0: as many as there are weights, with replacement only.
  std::uint64_t epoch_size = 0;
  /// Whether a sample may stand in an epoch more than once.
  bool replacement = true;
};

/// Samples in proportion to their weights:
///
///     feedline::loader loader{train, feedline::weighted{weights, {.seed = 42}}, gpu,
///                             {.batch_size = 256}};
///
/// With replacement, each position is drawn for itself: sample i with probability w[i] / Σw, to
/// within 2^-30 of an average sample's probability. The draw is O(1), by the alias method
/// (A. Walker, ACM TOMS 1977; M. Vose, IEEE TSE 1991; built by the sweep of L. Hübschle-Schneider,
/// P. Sanders, "Parallel Weighted Random Sampling", ESA 2019). The table takes 8 bytes a sample.
///
/// Without replacement, an epoch of m positions has m different samples, in random order. Sample i
/// is among them with probability m × w[i] / Σw, to within 2^-29. Where that is more than 1, the
/// sample is in every epoch and the others share the rest in the same way. So a sample of twice the
/// weight is in twice as many epochs; within an epoch its place does not depend on its weight. The
/// draw is O(1) on average, by systematic sampling (W. Madow, 1949) over groups of samples that
/// each epoch arranges again. The table takes 12 bytes a sample.
///
/// Copies share the table. While it is made, 8 (without replacement: 32) bytes a sample more are in
/// use. A sample of weight 0 is never drawn; neither is one whose weight is below 2^-63 of the
/// greatest (without replacement: of the greatest that is not in every epoch). The order depends on
/// (seed, epoch, epoch size, replacement, weights) alone. All arithmetic is on integers: the order
/// is the same on every platform, and is kept across versions.
class weighted {
 public:
  /// @param weights One for each sample of the dataset. None is kept.
  /// @throws usage_error if there is none, one is negative, infinite or not a number, all are 0,
  ///         there are 2^32 or more; without replacement, if the epoch's size is 0 or there are
  ///         fewer weights above 0 than that.
  explicit weighted(std::span<const double> weights, const weighted_options& options = {});

  /// @param of Its field `field_name` has the weights: one number (integer, f32 or f64) a sample,
  ///           all read now. A file of weights serves: `weighted{open_npy("w.npy", "w"), "w"}`.
  /// @throws usage_error as above, or if there is no such field or it has another type or shape;
  ///         dataset_error if it cannot be read.
  weighted(const dataset_ptr& of, const std::string& field_name,
           const weighted_options& options = {});

  /// Positions in an epoch.
  /// @throws usage_error if the dataset has another number of samples than there are weights.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const { return order_.size(samples); }
  /// @throws usage_error as `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    order_.indices(samples, epoch, first, out);
  }

  /// Of the table.
  [[nodiscard]] std::size_t table_bytes() const noexcept { return table_bytes_; }

 private:
  explicit weighted(std::pair<sampler, std::size_t> order)
      : order_{std::move(order.first)}, table_bytes_{order.second} {}

  sampler order_;
  std::size_t table_bytes_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
