#pragma once

#include <feedline/export.hpp>

#include <cstdint>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

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

/// Other colours for each sample and epoch, of bytes with one channel (grey) or three (red, green,
/// blue): as torchvision's `ColorJitter`, but always in the order of these members, and not rounded
/// in between. Each result is brought within 0 to 255.
struct color_jitter {
  double brightness = 0.0;  ///< factor 1 - it to 1 + it, at least 0
  double contrast = 0.0;    ///< likewise, of the distance from the image's mean grey
  double saturation = 0.0;  ///< likewise, of the distance from the pixel's grey
  double hue = 0.0;         ///< turned by - it to it, of a circle; at most 0.5
};

/// A rectangle of an image set to one value, another for each sample and epoch, as by torchvision's
/// `RandomErasing`: ten tries, then none.
struct random_erasing {
  double probability = 0.5;
  value_range scale = {0.02, 0.33};  ///< the rectangle's share of the image's area, 0 to 1
  value_range ratio = {0.3, 3.3};    ///< its height over its width
  std::vector<double> value = {};  ///< for each channel, or one for all, before `scale` and `mean`
                                   ///< of the transform; empty: 0
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
