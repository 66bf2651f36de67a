#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/export.hpp>

#include <concepts>
#include <cstdint>
#include <variant>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// How much of a dataset a part of it is to have: a floating-point number is a share, an integer
/// counts samples.
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

/// Parts of a dataset that share no sample and together have all, drawn at random:
///
///     const auto parts = feedline::random_split(digits, {0.9, 0.1}, 42);  // or {54'000, 6'000}
///     feedline::loader train{parts[0], …};
///     feedline::loader test{parts[1], …};
///
/// A seeded bijection says which sample is where: the same on every platform, kept across versions,
/// in memory that does not grow with the dataset. A part's samples are in random order, so they
/// have no `chunks()` and no `rows()`; reading a whole part in its order jumps about.
/// @param sizes All shares, whose sum is 1, or all counts, whose sum is the dataset's size. A share
///              ends where the sum up to it, times the size, is rounded to.
/// @throws usage_error if the dataset is null, there are no sizes, one is negative, kinds are
///         mixed, or the sum is another.
[[nodiscard]] std::vector<dataset_ptr> random_split(dataset_ptr of,
                                                    const std::vector<split_size>& sizes,
                                                    std::uint64_t seed);

}  // namespace FEEDLINE_ABI
}  // namespace feedline
