#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The range from `low` to `high`.
struct float_range {
  float low = 0.0F;
  float high = 0.0F;
};

/// Resizing and random changes of a field's images, applied in the order of the members, before
/// scale and offset. A flip comes after the resize.
struct image_augmentation {
  /// Maximum number of channels with a value each.
  static constexpr std::size_t max_channels = 32;

  /// Whether the window is resized to to_height × to_width; there is no other crop.
  bool resizes = false;
  bool random_window = false;  ///< whether the window is random; else it is the whole image
  bool jitters = false;        ///< whether colours change; for u8 with one channel or three
  /// Whether `erase_value` has one value a channel; else the first is used for all.
  bool erases_per_channel = false;
  float_range area = {};  ///< random window's share of the image's area
  /// Binary logarithm of the random window's width over its height.
  float_range log_ratio = {};
  /// Height and width of the central window used if ten draws do not fit.
  std::uint32_t else_height = 0;
  std::uint32_t else_width = 0;
  float_range brightness = {1.0F, 1.0F};  ///< factors
  float_range contrast = {1.0F, 1.0F};
  float_range saturation = {1.0F, 1.0F};
  float_range hue = {};              ///< added, in full circles
  std::uint64_t erase_below = 0;     ///< a part is erased if a 32-bit draw is below this; 0: never
  float_range erase_area = {};       ///< like `area`, for the batch's image
  float_range erase_log_ratio = {};  ///< like `log_ratio`, for the erased part
  float erase_value[max_channels] = {};

  /// Whether any operation is enabled.
  [[nodiscard]] bool any() const noexcept { return resizes || jitters || erase_below != 0; }
  [[nodiscard]] bool is_random() const noexcept {
    return random_window || jitters || erase_below != 0;
  }
  /// Whether an image's mean grey must be known before its first pixel.
  [[nodiscard]] bool needs_mean() const noexcept {
    return jitters && !(contrast.low == 1.0F && contrast.high == 1.0F);
  }
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
