#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// From `low` to `high`.
struct float_range {
  float low = 0.0F;
  float high = 0.0F;
};

/// How a field's images are resized and changed, in this order, before scale and offset. A flip
/// comes behind the resize.
struct image_augmentation {
  /// Channels that can each have a value of their own.
  static constexpr std::size_t max_channels = 32;

  bool resizes = false;        ///< the window becomes to_height × to_width; there is no other crop
  bool random_window = false;  ///< the window is drawn; else it is the whole image
  bool jitters = false;        ///< of u8, one channel or three
  bool erases_per_channel = false;  ///< `erase_value`: one a channel; else the first for all
  float_range area = {};            ///< of a window that is drawn: its share of the image's
  float_range log_ratio = {};       ///< likewise: the binary logarithm of its width over its height
  std::uint32_t else_height = 0;    ///< the window in the middle, if ten draws do not fit
  std::uint32_t else_width = 0;
  float_range brightness = {1.0F, 1.0F};  ///< factors
  float_range contrast = {1.0F, 1.0F};
  float_range saturation = {1.0F, 1.0F};
  float_range hue = {};              ///< added, in circles
  std::uint64_t erase_below = 0;     ///< a part is erased if a 32-bit draw is below it; 0: never
  float_range erase_area = {};       ///< as `area`, of the batch's image
  float_range erase_log_ratio = {};  ///< as `log_ratio`
  float erase_value[max_channels] = {};

  /// Whether there is anything to do.
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
