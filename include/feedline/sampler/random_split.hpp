#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <concepts>
#include <cstdint>
#include <variant>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Size of a part of a dataset: a floating-point number is a share, an integer is a number of
/// samples.
class split_size {
 public:
  template <std::floating_point Share>
  split_size(Share share)  // NOLINT(google-explicit-constructor)
      : size_{static_cast<double>(share)} {}
  template <std::integral Count>
  split_size(Count samples)  // NOLINT(google-explicit-constructor)
      : size_{static_cast<std::int64_t>(samples)} {}

  [[nodiscard]] const std::variant<double, std::int64_t>& size() const noexcept { return size_; }

 private:
  std::variant<double, std::int64_t> size_;
};

/// Splits a dataset at random into parts that have no sample in common and together have all
/// samples:
///
///     const auto parts = feedline::random_split(digits, {0.9, 0.1}, 42);  // or {54'000, 6'000}
///     feedline::loader train{parts[0], …};
///     feedline::loader test{parts[1], …};
///
/// A seeded bijection assigns the samples. It is the same on every platform, is kept across
/// versions, and its memory does not grow with the dataset. A part's samples are in random order,
/// so a part has no `chunks()` and no `rows()`. Reading a whole part in its order accesses the
/// dataset at random.
/// @param sizes All are shares, whose sum is 1, or all are counts, whose sum is the dataset's size.
/// A part given as a share ends at (the sum of the shares up to it) × (the dataset's size),
/// rounded.
/// @throws usage_error if the dataset is null, there are no sizes, one is negative, shares and
/// counts are mixed, or the sum is wrong.
[[nodiscard]] std::vector<dataset_ptr> random_split(dataset_ptr of,
                                                    const std::vector<split_size>& sizes,
                                                    std::uint64_t seed);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
