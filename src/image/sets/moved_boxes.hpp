#pragma once

#include "image/resize/geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace feedline::detail {

/// Where coordinates of an image go in the window that becomes a sample. Coordinates are those of
/// torchvision: boxes are edges of pixels, points are pixels.
class moved_coordinates {
 public:
  /// @param original Extents of the image. @param flipped Left and right are exchanged last.
  moved_coordinates(const resample_window& window, image_extents original, bool flipped) noexcept
      : height_{double{1} * window.extents.height},
        width_{double{1} * window.extents.width},
        flipped_{flipped} {
    const image_box source =
        window.source.extents.pixels() == 0 ? image_box{0, 0, original} : window.source;
    across_ = {double{1} * source.left, double{1} * window.resized.width / source.extents.width,
               double{1} * window.left};
    down_ = {double{1} * source.top, double{1} * window.resized.height / source.extents.height,
             double{1} * window.top};
  }

  /// A box in xyxy: what of it is within the window.
  struct part {
    std::array<double, 4> box;
    double visible;  ///< its share of the box's area
  };

  [[nodiscard]] part move(const std::array<float, 4>& box) const noexcept {
    std::array<double, 4> all{across_.move(box[0]), down_.move(box[1]), across_.move(box[2]),
                              down_.move(box[3])};
    if (flipped_) {
      const double left = all[0];
      all[0] = width_ - all[2];
      all[2] = width_ - left;
    }
    for (std::size_t k = 0; k < 4; ++k) all[k] = at_edge(all[k], k % 2 == 0 ? width_ : height_);
    const std::array<double, 4> inside{
        std::clamp(all[0], 0.0, width_), std::clamp(all[1], 0.0, height_),
        std::clamp(all[2], 0.0, width_), std::clamp(all[3], 0.0, height_)};
    return {inside, area(inside) / area(all)};
  }

  /// Moves a point. @return Whether it is within the window.
  [[nodiscard]] bool move_point(double& x, double& y) const noexcept {
    x = at_edge(across_.move(x), width_);
    y = at_edge(down_.move(y), height_);
    if (flipped_) x = width_ - 1 - x;
    return x >= 0 && x < width_ && y >= 0 && y < height_;
  }

  [[nodiscard]] double height() const noexcept { return height_; }
  [[nodiscard]] double width() const noexcept { return width_; }

 private:
  struct axis {
    double begin = 0;
    double scale = 1;
    double cut = 0;

    [[nodiscard]] double move(double value) const noexcept { return (value - begin) * scale - cut; }
  };

  /// The edge of the window, if it is as near as rounding leaves it. So a box up to the edge is
  /// whole, and of one beyond it nothing is left.
  [[nodiscard]] static double at_edge(double value, double side) noexcept {
    constexpr double rounding = 1e-6;  // pixels
    if (std::abs(value) < rounding) return 0;
    return std::abs(value - side) < rounding ? side : value;
  }

  [[nodiscard]] static double area(const std::array<double, 4>& box) noexcept {
    return (box[2] - box[0]) * (box[3] - box[1]);
  }

  axis across_;
  axis down_;
  double height_;
  double width_;
  bool flipped_;
};

}  // namespace feedline::detail
