#pragma once

#include <feedline/dataset/image_layout.hpp>
#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Height and width of an image, in pixels.
struct image_size {
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  [[nodiscard]] constexpr std::uint64_t pixels() const noexcept {
    return std::uint64_t{height} * width;
  }
  friend bool operator==(const image_size&, const image_size&) = default;
};

/// Says that the height and width of a field's images differ from batch to batch. In a batch all
/// such fields have the same height and width: those that `dataset::sizes` gives.
struct size_by_batch {
  /// Where height and width are in the field's shape. A shape of two extents is {height, width}.
  image_layout layout = image_layout::hwc;
  /// Whether images are smaller than their batch, and padded on the right and at the bottom. A
  /// loader refuses transforms that would move the padding.
  bool padded = false;

  friend bool operator==(const size_by_batch&, const size_by_batch&) = default;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
