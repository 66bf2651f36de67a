#pragma once

#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace feedline::detail {

/// The samples of each bucket, in the dataset's order. Immutable.
class length_buckets {
 public:
  /// @param boundaries Rising.
  /// @param max_narrow Up to this many samples, their numbers are kept in 4 bytes each.
  length_buckets(std::span<const std::uint64_t> lengths, std::vector<std::uint64_t> boundaries,
                 std::uint64_t max_narrow = std::uint64_t{1} << 32);

  [[nodiscard]] std::uint64_t samples() const noexcept { return begins_.back(); }
  [[nodiscard]] std::size_t count() const noexcept { return begins_.size() - 1; }
  [[nodiscard]] std::uint64_t size(std::size_t bucket) const noexcept {
    return begins_[bucket + 1] - begins_[bucket];
  }
  [[nodiscard]] const std::vector<std::uint64_t>& boundaries() const noexcept {
    return boundaries_;
  }
  [[nodiscard]] std::size_t table_bytes() const noexcept;

  /// Replaces each number within the bucket by its sample.
  void to_samples(std::size_t bucket, std::span<sample_index> numbers) const noexcept;

 private:
  std::vector<std::uint64_t> boundaries_;
  std::vector<std::uint64_t> begins_;  ///< begin of each bucket in the table; and its end
  std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>> table_;
};

/// Batches of samples of one bucket each, as far as whole batches are possible, in random order. A
/// sampler; it implements `bucket_by_length` for a batch size B.
///
/// Every bucket contains some of the n samples, in an order drawn for the epoch. The n mod B
/// samples that end the epoch are set aside first: they are consecutive, bucket after bucket, and
/// begin at a random one of all samples, so that each is as likely to be among them, also where
/// they are dropped. Most samples that remain in a bucket make whole batches of it; the rests stand
/// in line, bucket after bucket, and make the whole batches that are missing. A bijection orders
/// the ⌊n / B⌋ whole batches. With k buckets, a call costs O(k), and O(log k) a batch.
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
