#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {

/// From `low` to `high`, both included.
struct value_range {
  double low = 0.0;
  double high = 0.0;
};

/// The whole of each image, made this large: bilinear, with antialiasing, as torchvision's `resize`
/// of floating-point images.
struct image_resize {
  std::uint64_t height = 0;  ///< 1 to 65535, as the image's own
  std::uint64_t width = 0;
};

/// A window of each image, another for each sample and epoch, resized like `image_resize`. The
/// window is drawn as by torchvision's `RandomResizedCrop`: ten tries, then the middle.
struct random_resized_crop {
  std::uint64_t height = 0;  ///< of what the window becomes, 1 to 65535
  std::uint64_t width = 0;
  value_range scale = {0.08, 1.0};           ///< the window's share of the image's area, 0 to 1
  value_range ratio = {3.0 / 4, 4.0 / 3.0};  ///< the window's width over its height
};

}  // namespace feedline
