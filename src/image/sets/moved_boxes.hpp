#pragma once

#include "image/image_geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace feedline::detail {

/// Where coordinates of an image go in its sample. Coordinates are those of
/// torchvision: boxes are edges of pixels, points are pixels.
class moved_coordinates {
 public:
  /// @param original Extents of the image. @param flipped Left and right of the sample are
  /// exchanged last.
  moved_coordinates(const placed_image& placed, image_extents original, bool flipped) noexcept
      : height_{double{1} * placed.sample.height},
        width_{double{1} * placed.sample.width},
        top_{double{1} * placed.top},
        left_{double{1} * placed.left},
        bottom_{top_ + placed.window.extents.height},
        right_{left_ + placed.window.extents.width},
        mirrored_{placed.is_mirrored},
        flipped_{flipped} {
    const resample_window& window = placed.window;
    const image_box source =
        window.source.extents.pixels() == 0 ? image_box{0, 0, original} : window.source;
    across_ = {double{1} * source.left, double{1} * window.resized.width / source.extents.width,
               double{1} * window.left - left_};
    down_ = {double{1} * source.top, double{1} * window.resized.height / source.extents.height,
             double{1} * window.top - top_};
  }

  /// A box in xyxy: what of it is within the image's part of the sample.
  struct part {
    std::array<double, 4> box;
    double visible;  ///< its share of the box's area
  };

  [[nodiscard]] part move(const std::array<float, 4>& box) const noexcept {
    std::array<double, 4> all{across_.move(box[0]), down_.move(box[1]), across_.move(box[2]),
                              down_.move(box[3])};
    for (std::size_t k = 0; k < 4; ++k)
      all[k] = k % 2 == 0 ? at_edges(all[k], left_, right_) : at_edges(all[k], top_, bottom_);
    std::array<double, 4> inside{
        std::clamp(all[0], left_, right_), std::clamp(all[1], top_, bottom_),
        std::clamp(all[2], left_, right_), std::clamp(all[3], top_, bottom_)};
    const double visible = area(inside) / area(all);
    if (mirrored_) exchange(inside, left_ + right_);
    if (flipped_) exchange(inside, width_);
    return {inside, visible};
  }

  /// Moves a point. @return Whether it is within the image's part of the sample.
  [[nodiscard]] bool move_point(double& x, double& y) const noexcept {
    x = at_edges(across_.move(x), left_, right_);
    y = at_edges(down_.move(y), top_, bottom_);
    if (mirrored_) x = left_ + right_ - 1 - x;
    if (flipped_) x = width_ - 1 - x;
    const double low = flipped_ ? width_ - right_ : left_;
    const double high = flipped_ ? width_ - left_ : right_;
    return x >= low && x < high && y >= top_ && y < bottom_;
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

  /// One of the edges, if it is as near as rounding leaves it. So a box up to an edge is whole, and
  /// of one beyond it nothing is left.
  [[nodiscard]] static double at_edges(double value, double low, double high) noexcept {
    constexpr double rounding = 1e-6;  // pixels
    if (std::abs(value - low) < rounding) return low;
    return std::abs(value - high) < rounding ? high : value;
  }

  /// Exchanges left and right. @param sum The sum of the two edges.
  static void exchange(std::array<double, 4>& box, double sum) noexcept {
    const double left = box[0];
    box[0] = sum - box[2];
    box[2] = sum - left;
  }

  [[nodiscard]] static double area(const std::array<double, 4>& box) noexcept {
    return (box[2] - box[0]) * (box[3] - box[1]);
  }

  axis across_;
  axis down_;
  double height_;
  double width_;
  double top_;  ///< the image's part of the sample
  double left_;
  double bottom_;
  double right_;
  bool mirrored_;
  bool flipped_;
};

}  // namespace feedline::detail
