#pragma once

#include <feedline/arrays/array_source.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// Boxes of one array, and the numbers that they consist of. One thread.
class box_list {
 public:
  /// Part of a box along one dimension.
  struct axis {
    std::uint64_t begin;
    std::uint64_t count;
    std::uint64_t step;
    std::ptrdiff_t stride;
  };

  void clear() noexcept {
    numbers_.clear();
    strides_.clear();
    outs_.clear();
  }
  [[nodiscard]] bool empty() const noexcept { return outs_.empty(); }

  void add(std::span<const axis> axes, std::byte* out) {
    rank_ = axes.size();
    for (const axis& each : axes) numbers_.push_back(each.begin);
    for (const axis& each : axes) numbers_.push_back(each.count);
    for (const axis& each : axes) numbers_.push_back(each.step);
    for (const axis& each : axes) strides_.push_back(each.stride);
    outs_.push_back(out);
  }

  /// All boxes; valid until the next call of another function.
  [[nodiscard]] std::span<const array_box> boxes() {
    boxes_.clear();
    for (std::size_t i = 0; i < outs_.size(); ++i) {
      const std::span<const std::uint64_t> own{numbers_.data() + i * 3 * rank_, 3 * rank_};
      boxes_.push_back({own.first(rank_),
                        own.subspan(rank_, rank_),
                        own.last(rank_),
                        {strides_.data() + i * rank_, rank_},
                        outs_[i]});
    }
    return boxes_;
  }

 private:
  std::size_t rank_ = 0;
  std::vector<std::uint64_t> numbers_ = {};
  std::vector<std::ptrdiff_t> strides_ = {};
  std::vector<std::byte*> outs_ = {};
  std::vector<array_box> boxes_ = {};
};

/// Distances between elements of a row-major array, in bytes, one for each dimension.
[[nodiscard]] inline std::vector<std::ptrdiff_t> dense_strides(std::span<const std::uint64_t> shape,
                                                               std::size_t element_bytes) {
  std::vector<std::ptrdiff_t> strides(shape.size());
  auto stride = static_cast<std::ptrdiff_t>(element_bytes);
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(shape[d]);
  }
  return strides;
}

}  // namespace feedline::detail
