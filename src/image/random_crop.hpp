#pragma once

#include <feedline/dataset/read_context.hpp>
#include <feedline/image/decode.hpp>

#include "image/resize/geometry.hpp"
#include "transform/operations/draws.hpp"

namespace feedline::detail {

/// Draws windows of images as torchvision's RandomResizedCrop does. Any thread.
class random_crop {
 public:
  /// @throws usage_error naming the range that is not possible.
  explicit random_crop(const crop_ranges& ranges);

  /// The window of one sample in one epoch: the same for any number of readers.
  /// @param original No side is 0, or above 65,535.
  [[nodiscard]] image_box draw(image_extents original, const sample_context& context) const;

 private:
  value_range ratio_;
  part_draws draws_;
};

}  // namespace feedline::detail
