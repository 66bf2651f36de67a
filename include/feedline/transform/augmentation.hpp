#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The range from `low` to `high`, both included.
struct value_range {
  double low = 0.0;
  double high = 0.0;
};

/// Resizes the whole image: bilinear, with antialiasing, like torchvision's `resize` of
/// floating-point images.
struct image_resize {
  std::uint64_t height = 0;  ///< 1 to 65535, like the source image's
  std::uint64_t width = 0;
};

/// Resizes a random window of each image, drawn for each sample and epoch, like `image_resize`. The
/// window is drawn as in torchvision's `RandomResizedCrop`: ten tries, then the middle.
struct random_resized_crop {
  std::uint64_t height = 0;  ///< height of the result, 1 to 65535
  std::uint64_t width = 0;
  value_range scale = {0.08, 1.0};           ///< the window's share of the image's area, 0 to 1
  value_range ratio = {3.0 / 4, 4.0 / 3.0};  ///< the window's width over its height
};

/// Changes colours at random for each sample and epoch. For bytes with one channel (grey) or three
/// (red, green, blue). Like torchvision's `ColorJitter`, but always in the order of these members,
/// and without rounding in between. Each result is clamped to 0 to 255.
struct color_jitter {
  double brightness = 0.0;  ///< factor 1 - value to 1 + value, at least 0
  double contrast = 0.0;    ///< same, for the distance from the image's mean grey
  double saturation = 0.0;  ///< same, for the distance from the pixel's grey
  double hue = 0.0;         ///< rotated by -value to +value, in full circles; at most 0.5
};

/// Sets a random rectangle of each image to one value, drawn for each sample and epoch, as in
/// torchvision's `RandomErasing`: ten tries, then none.
struct random_erasing {
  double probability = 0.5;
  value_range scale = {0.02, 0.33};  ///< the rectangle's share of the image's area, 0 to 1
  value_range ratio = {0.3, 3.3};    ///< the rectangle's height over its width
  /// For each channel, or one for all, before `scale` and `mean` of the transform; empty: 0.
  std::vector<double> value = {};
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
