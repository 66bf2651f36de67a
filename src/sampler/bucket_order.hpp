#pragma once

#include <feedline/index.hpp>

#include "sampler/length_buckets.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace feedline::detail {

/// Batches of samples of one bucket each, as far as whole batches can be made, in random order. A
/// sampler; what `bucket_by_length` becomes for a batch size B.
///
/// Of n samples, every bucket has some, in an order drawn for the epoch. The n mod B samples that end
/// the epoch are set aside first: they begin at a random one of all samples, bucket after bucket, so
/// that each is as likely to be among them, also where they are dropped. Of what a bucket keeps, as
/// much as makes whole batches does; the rests stand in line, bucket after bucket, and make the whole
/// batches that are missing. A bijection orders the ⌊n / B⌋ whole batches. Of k buckets, a call costs
/// O(k), and O(log k) a batch.
class bucket_order {
 public:
  /// @param batch_size At least 1.
  bucket_order(std::shared_ptr<const length_buckets> buckets, std::uint64_t seed,
               std::uint64_t batch_size);

  /// @throws usage_error if there are not as many samples as lengths.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// Whole batches of an epoch, and how many of them, at least, are of several buckets' rests.
  [[nodiscard]] std::uint64_t whole_batches() const noexcept;
  [[nodiscard]] std::uint64_t mixed_batches() const noexcept;

 private:
  std::shared_ptr<const length_buckets> buckets_;
  std::uint64_t seed_;
  std::uint64_t batch_size_;
};

}  // namespace feedline::detail
