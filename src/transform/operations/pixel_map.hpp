#pragma once

#include <feedline/transform/augmentation.hpp>

#include "transform/operations/pixel.hpp"

#include <cmath>
#include <cstdint>

namespace feedline::detail {

/// Sine and cosine of an angle.
struct direction {
  float sine;
  float cosine;

  [[nodiscard]] FEEDLINE_HOST_DEVICE float tangent() const noexcept {
    return quotient(sine, cosine);
  }
};

/// @param degrees -720 to 720. @return With an error of a few ulps.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline direction direction_of(float degrees) noexcept {
  const float quarters = floorf(sum(quotient(degrees, 90.0F), 0.5F));
  const float x = product(sum(degrees, product(quarters, -90.0F)), 0.017453293F);  // pi / 180
  const float square = product(x, x);
  // Taylor series, from the last term on.
  constexpr float sine_terms[] = {-1.9841270e-4F, 8.3333333e-3F, -1.6666667e-1F, 1.0F};
  constexpr float cosine_terms[] = {-1.3888889e-3F, 4.1666667e-2F, -0.5F, 1.0F};
  float sine = 2.7557319e-6F;
  float cosine = 2.4801587e-5F;
  for (const float term : sine_terms) sine = sum(product(sine, square), term);
  for (const float term : cosine_terms) cosine = sum(product(cosine, square), term);
  sine = product(sine, x);
  switch (static_cast<std::int32_t>(quarters) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

/// Where a sample's pixels come from: a matrix that takes a pixel's centre, measured from the
/// centre of the batch's image, to a point of the window. Its last line is 0, 0, 1 unless it
/// projects.
struct pixel_map {
  bool any = false;
  bool bilinear = false;
  bool projects = false;  ///< whether points are divided by what the last line gives
  float fill = 0.0F;      ///< value outside the window
  float x_of_x = 1.0F;
  float x_of_y = 0.0F;
  float x = 0.0F;
  float y_of_x = 0.0F;
  float y_of_y = 1.0F;
  float y = 0.0F;
  float w_of_x = 0.0F;
  float w_of_y = 0.0F;
  float w = 1.0F;

  /// The same as torchvision's `affine` around the image's centre, in pixels and degrees.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static pixel_map of(float degrees, float to_x, float to_y,
                                                         float scale, float shear_x,
                                                         float shear_y) noexcept {
    const direction turn = direction_of(degrees);
    const direction rest = direction_of(sum(degrees, -shear_y));
    const float cosine_y = direction_of(shear_y).cosine;
    const float tangent_x = direction_of(shear_x).tangent();
    const float a = quotient(rest.cosine, cosine_y);
    const float b = -sum(product(a, tangent_x), turn.sine);
    const float c = quotient(rest.sine, cosine_y);
    const float d = sum(turn.cosine, -product(c, tangent_x));
    pixel_map map;
    map.x_of_x = quotient(d, scale);
    map.x_of_y = quotient(-b, scale);
    map.y_of_x = quotient(-c, scale);
    map.y_of_y = quotient(a, scale);
    map.x = -sum(product(map.x_of_x, to_x), product(map.x_of_y, to_y));
    map.y = -sum(product(map.y_of_x, to_x), product(map.y_of_y, to_y));
    return map;
  }

  /// Adds a move of the pixels that this map gives.
  FEEDLINE_HOST_DEVICE void then(const pixel_map& next) noexcept {
    const auto line = [&](float of_x, float of_y, float of_w, float& to_x, float& to_y,
                          float& offset) {
      const auto column = [&](float by_x, float by_y, float by_w) {
        return sum(product(of_w, by_w), sum(product(of_x, by_x), product(of_y, by_y)));
      };
      to_x = column(next.x_of_x, next.y_of_x, next.w_of_x);
      to_y = column(next.x_of_y, next.y_of_y, next.w_of_y);
      offset = column(next.x, next.y, next.w);
    };
    line(x_of_x, x_of_y, x, x_of_x, x_of_y, x);
    line(y_of_x, y_of_y, y, y_of_x, y_of_y, y);
    line(w_of_x, w_of_y, w, w_of_x, w_of_y, w);
    projects = projects || next.projects;
    any = true;
  }
  FEEDLINE_HOST_DEVICE void then(const pixel_map& next, feedline::interpolation interpolation,
                                 float outside) noexcept {
    then(next);
    bilinear = interpolation == feedline::interpolation::bilinear;
    fill = outside;
  }

  /// @param base Returns the window's pixel at (y, x).
  template <class Base>
  [[nodiscard]] FEEDLINE_HOST_DEVICE color sampled(const Base& base, pixel_extents image,
                                                   std::uint32_t at_y,
                                                   std::uint32_t at_x) const noexcept {
    const auto width = static_cast<float>(image.width);
    const auto height = static_cast<float>(image.height);
    const float middle_x = product(sum(width, -1.0F), 0.5F);
    const float middle_y = product(sum(height, -1.0F), 0.5F);
    const float from_x = sum(static_cast<float>(at_x), -middle_x);
    const float from_y = sum(static_cast<float>(at_y), -middle_y);
    const auto line = [&](float of_x, float of_y, float offset) {
      return sum(sum(product(of_x, from_x), product(of_y, from_y)), offset);
    };
    float to_x = line(x_of_x, x_of_y, x);
    float to_y = line(y_of_x, y_of_y, y);
    if (projects) {
      // Points at infinity become far ones, outside the window.
      const float by = line(w_of_x, w_of_y, w);
      to_x = fminf(fmaxf(quotient(to_x, by), -far), far);
      to_y = fminf(fmaxf(quotient(to_y, by), -far), far);
    }
    to_x = sum(to_x, middle_x);
    to_y = sum(to_y, middle_y);
    const auto pixel_at = [&](float down, float right) {
      const bool inside = down >= 0.0F && down < height && right >= 0.0F && right < width;
      return inside ? base(static_cast<std::uint32_t>(down), static_cast<std::uint32_t>(right))
                    : color{{fill, fill, fill}};
    };
    if (!bilinear) return pixel_at(rintf(to_y), rintf(to_x));  // ties to even, like torchvision
    const float left = floorf(to_x);
    const float top = floorf(to_y);
    color sums{};
    FEEDLINE_SHORT_LOOP
    for (std::uint32_t i = 0; i < 4; ++i) {
      const float down = sum(top, i < 2 ? 0.0F : 1.0F);
      const float right = sum(left, i % 2 == 0 ? 0.0F : 1.0F);
      const float weight =
          product(sum(1.0F, -fabsf(sum(to_y, -down))), sum(1.0F, -fabsf(sum(to_x, -right))));
      const color other = pixel_at(down, right);
      for (std::uint32_t c = 0; c < 3; ++c)
        sums.of[c] = sum(sums.of[c], product(weight, other.of[c]));
    }
    return sums;
  }

 private:
  static constexpr float far = 1e6F;  ///< pixels
};

}  // namespace feedline::detail
