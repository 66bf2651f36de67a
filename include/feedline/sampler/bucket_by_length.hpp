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

/// How `bucket_by_length` is to go about it.
struct bucket_options {
  std::uint64_t seed = 0;  ///< seed of the order; 0 is a seed like any other
  /// Rising; a sample goes to the bucket of as many boundaries as are no more than its length, so N
  /// boundaries make N + 1 buckets. None: they are chosen so that buckets have about equally many
  /// samples.
  std::vector<std::uint64_t> boundaries = {};
  std::uint64_t buckets = 8;  ///< where no boundaries are given; fewer where many lengths are equal
};

/// Every sample once, in batches of samples of similar length: a computation that stops at the
/// longest sample of its batch then does little for nothing.
///
///     auto tokens = feedline::make_ragged_dataset(…);
///     feedline::loader loader{feedline::pad(tokens, {.length = 2048}),
///                             feedline::bucket_by_length{*tokens, {.seed = 42}}, gpu,
///                             {.batch_size = 64}};
///
/// Samples are dealt to buckets by length. In each epoch every bucket is shuffled and cut into
/// whole batches, and all batches are shuffled, those of long samples among those of short ones.
/// What is left of each bucket, less than a batch, makes batches in the order of the buckets,
/// shuffled among the others. So fewer buckets, or more samples in each, mean fewer batches of
/// several buckets. If the last batch is not full, its samples are drawn again in each epoch, each
/// sample as likely.
///
/// All by arithmetic over one table, of 4 bytes a sample (8 from 2^32 samples on), which copies
/// share; 16 bytes a sample more are in use while it is made. The order depends on (seed, epoch,
/// batch size, boundaries, lengths) alone, is the same on every platform, and is kept across
/// versions.
class bucket_by_length {
 public:
  /// Keeps nothing of the dataset but the table.
  /// @throws usage_error if the boundaries do not rise, or there are to be 0 buckets.
  explicit bucket_by_length(const ragged_dataset& of, const bucket_options& options = {});

  /// @param lengths Of each sample: of any dataset whose samples' cost is known, a subset for one.
  explicit bucket_by_length(std::span<const std::uint64_t> lengths,
                            const bucket_options& options = {});

  /// @throws usage_error: batches must be known. `bind`, or give it to a loader.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  /// @throws usage_error as `size`.
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// The order for a dataset's batches; a loader asks for it. Logs a warning if most batches will
  /// be of several buckets.
  /// @throws usage_error if the dataset has another number of samples than there are lengths.
  [[nodiscard]] sampler bind(const dataset& of, std::uint64_t batch_size) const;

  /// Where each bucket but the first begins: as given, or as chosen.
  [[nodiscard]] const std::vector<std::uint64_t>& boundaries() const noexcept;

  /// Of the table.
  [[nodiscard]] std::size_t table_bytes() const noexcept;

 private:
  std::uint64_t seed_;
  std::shared_ptr<const detail::length_buckets> buckets_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
