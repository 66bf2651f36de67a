#pragma once

#include <feedline/export.hpp>

#include <cstdint>

namespace FEEDLINE_EXPORT feedline {

/// From `low` to `high`.
struct float_range {
  float low = 0.0F;
  float high = 0.0F;
};

/// How a field's images are resized, before scale and offset.
struct image_augmentation {
  bool resizes = false;        ///< the window becomes to_height × to_width; there is no other crop
  bool random_window = false;  ///< the window is drawn; else it is the whole image
  float_range area = {};       ///< of a window that is drawn: its share of the image's
  float_range log_ratio = {};  ///< likewise: the binary logarithm of its width over its height
  std::uint32_t else_height = 0;  ///< the window in the middle, if ten draws do not fit
  std::uint32_t else_width = 0;

  /// Whether there is anything to do.
  [[nodiscard]] bool any() const noexcept { return resizes; }
  [[nodiscard]] bool is_random() const noexcept { return random_window; }
};

}  // namespace feedline
