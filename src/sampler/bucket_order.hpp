#pragma once

#include <feedline/index.hpp>

#include "sampler/length_buckets.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// Batches of samples of one bucket each, as far as whole batches can be made, in random order. A
/// sampler; what `bucket_by_length` becomes for a batch size B.
///
/// Of n samples, bucket k has n_k, in an order drawn for the epoch. Its first ⌊n_k / B⌋ × B make whole
/// batches; the rests of all buckets stand in line, bucket after bucket. The line makes the whole
/// batches that are missing to ⌊n / B⌋, and from a random place of it the n mod B samples are taken
/// that end the epoch: always from the line's end, and where they are dropped, an epoch would always
/// lack long ones. A bijection orders the ⌊n / B⌋ whole batches. A position costs O(log buckets).
class bucket_order {
 public:
  /// @param batch_size At least 1.
  bucket_order(std::shared_ptr<const length_buckets> buckets, std::uint64_t seed,
               std::uint64_t batch_size);

  /// @throws usage_error if there are not as many samples as lengths.
  [[nodiscard]] std::uint64_t size(std::uint64_t samples) const;
  void indices(std::uint64_t samples, std::uint64_t epoch, position first,
               std::span<sample_index> out) const;

  /// Whole batches of an epoch, and how many of them are of several buckets' rests.
  [[nodiscard]] std::uint64_t whole_batches() const noexcept;
  [[nodiscard]] std::uint64_t mixed_batches() const noexcept;

 private:
  struct drawing;

  void write_bucket(const drawing& drawn, std::uint64_t batch, std::uint64_t at,
                    std::span<sample_index> out) const noexcept;
  void write_rests(const drawing& drawn, std::uint64_t at,
                   std::span<sample_index> out) const noexcept;
  void write_numbers(const drawing& drawn, std::size_t bucket, std::uint64_t first,
                     std::span<sample_index> out) const noexcept;

  std::shared_ptr<const length_buckets> buckets_;
  std::uint64_t seed_;
  std::uint64_t batch_size_;
  std::vector<std::uint64_t>
      batches_before_;  ///< whole batches of the buckets before each, and of all
  std::vector<std::uint64_t> rests_before_;  ///< samples of their rests, and of all
};

}  // namespace feedline::detail
