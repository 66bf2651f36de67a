#pragma once

#include <feedline/export.hpp>
#include <feedline/index.hpp>
#include <feedline/ragged/dataset.hpp>
#include <feedline/sampler/sampler.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {
class length_buckets;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Options for `bucket_by_length`.
struct bucket_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Ascending. A sample goes to bucket k, where k is the number of boundaries ≤ its length, so N
  /// boundaries make N + 1 buckets. Empty: boundaries are chosen so that buckets have about the
  /// same number of samples.
  std::vector<std::uint64_t> boundaries = {};
  /// Number of buckets if no boundaries are given; fewer if many lengths are equal.
  std::uint64_t buckets = 8;
};

/// Every sample once, in batches of samples of similar length. A computation that stops at the
/// longest sample of its batch then does little unnecessary work.
///
///     auto tokens = feedline::make_ragged_dataset(…);
///     feedline::loader loader{feedline::pad(tokens, {.length = 2048}),
///                             feedline::bucket_by_length{*tokens, {.seed = 42}}, gpu,
///                             {.batch_size = 64}};
///
/// Samples are assigned to buckets by length. In each epoch every bucket is shuffled and cut into
/// whole batches. All batches are then shuffled, so batches of long and of short samples alternate.
/// The samples that remain in each bucket, less than a batch, are joined in the order of the
/// buckets; the batches made of these are shuffled among the others. So with fewer buckets, or more
/// samples in each, fewer batches mix several buckets. If the last batch is not full, its samples
/// are drawn again in each epoch, each sample with equal probability.
///
/// The order is computed from one table of 4 bytes a sample (8 from 2^32 samples on), which copies
/// share. Its construction needs another 16 bytes a sample. The order depends on (seed, epoch,
/// batch size, boundaries, lengths) alone, is the same on every platform, and is kept across
/// versions.
class bucket_by_length {
 public:
  /// Keeps only the table, not the dataset.
  /// @throws usage_error if the boundaries do not ascend, or `buckets` is 0.
  explicit bucket_by_length(const ragged_dataset& of, const bucket_options& options = {});

  /// @param lengths Length of each sample. It may be any measure of a sample's cost.
  explicit bucket_by_length(std::span<const std::uint64_t> lengths,
                            const bucket_options& options = {});

  /// @throws usage_error, because the batch size is not known. Use `bind`, or give the sampler to a
  /// loader.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error like `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// The order for a dataset's batches; a loader calls this. Logs a warning if most batches would
  /// mix several buckets.
  /// @throws usage_error if the dataset's number of samples differs from the number of lengths.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const;

  /// Boundaries between the buckets, as given or as chosen.
  [[nodiscard]] const std::vector<std::uint64_t>& boundaries() const noexcept;

  /// Size of the table.
  [[nodiscard]] std::size_t table_bytes() const noexcept;

 private:
  std::uint64_t seed_;
  std::shared_ptr<const detail::length_buckets> buckets_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
