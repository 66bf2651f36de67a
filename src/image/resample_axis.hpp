#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Part of a resize along one axis: which source elements make up each of the wanted ones, and how much.
///
/// A triangle as wide as two wanted elements (two source elements, when enlarging) is laid over the source:
/// what PIL calls bilinear, and torchvision bilinear with antialiasing. One thread's; keeps its memory.
class resample_axis {
 public:
  static constexpr int weight_bits = 14;  ///< weights of one element sum up to 2^14 exactly

  /// Plans elements [begin, begin + count) of an axis of `from` elements resized to `to`. Does nothing if that
  /// was the last plan. None is 0; begin + count <= to.
  void plan(std::uint32_t from, std::uint32_t to, std::uint32_t begin, std::uint32_t count);

  [[nodiscard]] std::uint32_t count() const noexcept { return wanted_.count; }
  /// Source elements of each wanted one; weights may be 0.
  [[nodiscard]] std::uint32_t taps() const noexcept { return taps_; }
  /// The first source element of a wanted one; `first(i) + taps() <= from`.
  [[nodiscard]] std::uint32_t first(std::uint32_t i) const noexcept { return first_[i]; }
  [[nodiscard]] std::span<const std::int16_t> weights(std::uint32_t i) const noexcept {
    return std::span{weights_}.subspan(std::size_t{i} * taps_, taps_);
  }
  /// Source elements that are used at all: [used_begin, used_end).
  [[nodiscard]] std::uint32_t used_begin() const noexcept { return first_.front(); }
  [[nodiscard]] std::uint32_t used_end() const noexcept { return first_.back() + taps_; }

 private:
  struct request {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
    friend bool operator==(const request&, const request&) = default;
  };

  request wanted_;
  std::uint32_t taps_ = 0;
  std::vector<std::uint32_t> first_;
  std::vector<std::int16_t> weights_;
};

}  // namespace feedline::detail
