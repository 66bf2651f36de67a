#pragma once

#include <feedline/image/decode.hpp>

#include "image/resampler.hpp"
#include "image/rgb_image.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace feedline::detail {

/// How an image of any size becomes one of the size wanted. Options are valid.
class image_geometry {
 public:
  explicit image_geometry(const image_options& options)
      : wanted_{options.height, options.width}, shorter_side_{options.shorter_side} {}

  /// What the whole of an image becomes, before any cut; nothing if that is beyond all measure: an image
  /// of 1 × 10 million pixels, enlarged.
  [[nodiscard]] std::optional<image_extents> resized(image_extents original) const {
    if (shorter_side_ == 0) return wanted_;
    const std::uint64_t shorter = std::min(original.height, original.width);
    const std::uint64_t longer = std::max(original.height, original.width);
    const std::uint64_t to = longer * shorter_side_ / shorter;
    if (to > std::uint64_t{1} << 30) return std::nullopt;
    const auto other = static_cast<std::uint32_t>(to);
    return original.width <= original.height ? image_extents{other, shorter_side_}
                                             : image_extents{shorter_side_, other};
  }

  /// The window that is kept of it, in the middle.
  [[nodiscard]] resample_window window(image_extents resized) const {
    return {resized, middle(resized.height - wanted_.height), middle(resized.width - wanted_.width),
            wanted_};
  }

 private:
  /// Half of what is left over; a half pixel goes to the even side, as Python's round has it.
  static std::uint32_t middle(std::uint32_t rest) {
    const std::uint32_t half = rest / 2;
    return half + (rest % 2 != 0 && half % 2 != 0 ? 1U : 0U);
  }

  image_extents wanted_;
  std::uint32_t shorter_side_;
};

}  // namespace feedline::detail
