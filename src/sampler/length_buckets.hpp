#pragma once

#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace feedline::detail {

/// Lengths that part samples into about `buckets` groups of equal size; samples of one length are
/// never parted, so there may be fewer. Rising, and above the shortest length.
/// @param lengths Taken, and rearranged.
[[nodiscard]] std::vector<std::uint64_t> equal_boundaries(std::vector<std::uint64_t> lengths,
                                                          std::uint64_t buckets);

/// Which samples are in which bucket, in the dataset's order within each. Immutable.
class length_buckets {
 public:
  /// @param boundaries Rising.
  /// @param most_narrow Up to so many samples, their numbers are kept in 4 bytes each.
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

  /// Puts the sample in the place of each number within the bucket.
  void to_samples(std::size_t bucket, std::span<sample_index> numbers) const noexcept;

 private:
  std::vector<std::uint64_t> boundaries_;
  std::vector<std::uint64_t> begins_;  ///< of each bucket in the table; and its end
  std::variant<std::vector<std::uint32_t>, std::vector<std::uint64_t>> table_;
};

}  // namespace feedline::detail
