#pragma once

#include "image/image_geometry.hpp"
#include "transform/operations/pixel_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

namespace feedline::detail {

/// The inverse of a sample's map: where a point of the sample goes as its pixels move.
class forward_map {
 public:
  /// @param width, height Those of the sample.
  forward_map(const pixel_map& back, double width, double height) noexcept
      : middle_x_{width / 2}, middle_y_{height / 2} {
    const std::array<double, 9> m{back.x_of_x, back.x_of_y, back.x,      back.y_of_x, back.y_of_y,
                                  back.y,      back.w_of_x, back.w_of_y, back.w};
    // The adjugate: a projection has no size.
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto at = [&](std::size_t row, std::size_t column) {
          return m[(row % 3) * 3 + column % 3];
        };
        line_[i][k] = at(k + 1, i + 1) * at(k + 2, i + 2) - at(k + 1, i + 2) * at(k + 2, i + 1);
      }
  }

  void move(double& x, double& y) const noexcept {
    const auto of = [&, x = x - middle_x_, y = y - middle_y_](const std::array<double, 3>& line) {
      return line[0] * x + line[1] * y + line[2];
    };
    const double to_x = of(line_[0]);
    const double to_y = of(line_[1]);
    const double by = of(line_[2]);
    x = to_x / by + middle_x_;
    y = to_y / by + middle_y_;
  }

 private:
  double middle_x_;
  double middle_y_;
  std::array<std::array<double, 3>, 3> line_{};
};

/// Where coordinates of an image go in its sample. Coordinates are those of
/// torchvision: boxes are edges of pixels, points are pixels.
class moved_coordinates {
 public:
  /// @param original Extents of the image. @param flipped Left and right of the sample are
  /// exchanged. @param moves Those of the sample's pixels, last.
  moved_coordinates(const placed_image& placed, image_extents original, bool flipped,
                    const pixel_map& moves = {}) noexcept
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
    if (moves.any) moves_.emplace(moves, width_, height_);
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
    if (!moves_ || !(visible > 0)) return {inside, visible};
    const part moved = around(inside);
    return {moved.box, visible * moved.visible};
  }

  /// Moves a point. @return Whether it is within the image's part of the sample.
  [[nodiscard]] bool move_point(double& x, double& y) const noexcept {
    x = at_edges(across_.move(x), left_, right_);
    y = at_edges(down_.move(y), top_, bottom_);
    if (mirrored_) x = left_ + right_ - 1 - x;
    if (flipped_) x = width_ - 1 - x;
    const double low = flipped_ ? width_ - right_ : left_;
    const double high = flipped_ ? width_ - left_ : right_;
    const bool is_inside = x >= low && x < high && y >= top_ && y < bottom_;
    if (!moves_ || !is_inside) return is_inside;
    moves_->move(x, y);
    return x >= 0 && x < width_ && y >= 0 && y < height_;
  }
  /// Whether left and right are exchanged.
  [[nodiscard]] bool flipped() const noexcept { return flipped_ != mirrored_; }

  [[nodiscard]] double height() const noexcept { return height_; }
  [[nodiscard]] double width() const noexcept { return width_; }

 private:
  struct axis {
    double begin = 0;
    double scale = 1;
    double cut = 0;

    [[nodiscard]] double move(double value) const noexcept { return (value - begin) * scale - cut; }
  };

  /// One of the edges, if it is as near as rounding leaves it. So a box up to an edge is whole,
  /// and of one beyond it nothing is left.
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

  /// The part of the smallest box around a box's moved corners that is within the sample.
  [[nodiscard]] part around(const std::array<double, 4>& box) const noexcept {
    constexpr double most = std::numeric_limits<double>::max();
    std::array<double, 4> all{most, most, -most, -most};
    for (std::size_t corner = 0; corner < 4; ++corner) {
      double x = box[corner % 2 * 2];
      double y = box[corner / 2 * 2 + 1];
      moves_->move(x, y);
      all = {std::min(all[0], x), std::min(all[1], y), std::max(all[2], x), std::max(all[3], y)};
    }
    for (std::size_t k = 0; k < 4; ++k) all[k] = at_edges(all[k], 0, k % 2 == 0 ? width_ : height_);
    const std::array<double, 4> inside{
        std::clamp(all[0], 0.0, width_), std::clamp(all[1], 0.0, height_),
        std::clamp(all[2], 0.0, width_), std::clamp(all[3], 0.0, height_)};
    return {inside, area(inside) / area(all)};
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
  std::optional<forward_map> moves_;
};

}  // namespace feedline::detail
