#pragma once

#include <feedline/transform/field_transform.hpp>

#include "transform/operations/check.hpp"
#include "transform/operations/draws.hpp"
#include "transform/operations/random_affine.hpp"
#include "transform/operations/steps.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace feedline::detail {

/// A point measured from the centre of the batch's image.
struct image_point {
  float x;
  float y;
};

/// The map under which an image's corners appear at four points, as torchvision's `perspective`
/// with the image's first and last pixels as its start points. It is the inverse of the unit
/// square's map to a quadrilateral (P. Heckbert, "Fundamentals of Texture Mapping and Image
/// Warping", 1989).
/// @param to Upper left, upper right, lower right, lower left.
/// @return A map that moves nothing if an image of one line or column has no quadrilateral, or if
/// three of the points are on one line.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline pixel_map perspective_to(const image_point (&to)[4],
                                                                   pixel_extents image) noexcept {
  const auto less = [](float a, float b) { return sum(a, -b); };
  const auto cross = [&](float a, float b, float c, float d) {
    return less(product(a, d), product(b, c));
  };
  const float right_x = less(to[1].x, to[2].x);
  const float right_y = less(to[1].y, to[2].y);
  const float below_x = less(to[3].x, to[2].x);
  const float below_y = less(to[3].y, to[2].y);
  const float apart_x = sum(less(to[0].x, to[1].x), less(to[2].x, to[3].x));
  const float apart_y = sum(less(to[0].y, to[1].y), less(to[2].y, to[3].y));
  const float corner = cross(right_x, below_x, right_y, below_y);
  // The lines of the square's map: (a, b, c), (d, e, f), (g, h, 1).
  const float g = quotient(cross(apart_x, below_x, apart_y, below_y), corner);
  const float h = quotient(cross(right_x, apart_x, right_y, apart_y), corner);
  const float a = sum(less(to[1].x, to[0].x), product(g, to[1].x));
  const float b = sum(less(to[3].x, to[0].x), product(h, to[3].x));
  const float c = to[0].x;
  const float d = sum(less(to[1].y, to[0].y), product(g, to[1].y));
  const float e = sum(less(to[3].y, to[0].y), product(h, to[3].y));
  const float f = to[0].y;
  const float u[3] = {less(e, product(f, h)), less(product(c, h), b), cross(b, c, e, f)};
  const float v[3] = {less(product(f, g), d), less(a, product(c, g)), cross(c, a, f, d)};
  const float w[3] = {cross(d, e, g, h), cross(b, a, h, g), cross(a, b, d, e)};
  // w at the square's first corner, so that sizes are of the image's order.
  const float unit = sum(sum(product(w[0], c), product(w[1], f)), w[2]);
  pixel_map map;
  if (corner == 0.0F || unit == 0.0F || image.width < 2 || image.height < 2) return map;
  map.projects = true;
  const auto line = [&](const float(&of)[3], float size, float half, float& of_x, float& of_y,
                        float& offset) {
    const auto entry = [&](std::uint32_t i) {
      return quotient(less(product(size, of[i]), product(half, w[i])), unit);
    };
    of_x = entry(0);
    of_y = entry(1);
    offset = entry(2);
  };
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  line(u, sum(width, -1.0F), product(width, 0.5F), map.x_of_x, map.x_of_y, map.x);
  line(v, sum(height, -1.0F), product(height, 0.5F), map.y_of_x, map.y_of_y, map.y);
  map.w_of_x = quotient(w[0], unit);
  map.w_of_y = quotient(w[1], unit);
  map.w = quotient(w[2], unit);
  return map;
}

/// `field_transform::perspective`.
struct random_perspective_operation {
  static constexpr auto option = &field_transform::perspective;
  static constexpr const char* name = "perspective";
  static constexpr std::uint32_t first_draw = 160;
  static constexpr std::uint32_t draws = 9;

  struct parameters {
    std::uint64_t below = 0;  ///< an image is changed if a 32-bit draw is below this
    double distortion = 0.0;
    feedline::interpolation interpolation = feedline::interpolation::bilinear;
    float fill = 0.0F;
  };

  static void check(const random_perspective& options, const checked_field& field) {
    field.colors(name);
    field.in_range("perspective.probability", options.probability, 0, 1);
    field.in_range("perspective.distortion_scale", options.distortion_scale, 0, 1);
    check_resampling(name, options, field);
  }
  static std::string text(const random_perspective& options) {
    return "perspective " + text_of(options.probability) + " distortion " +
           text_of(options.distortion_scale) +
           interpolation_text(options.interpolation, options.fill);
  }
  static std::optional<parameters> plan(const random_perspective& options) {
    const std::uint64_t below = draw_bound(options.probability);
    if (below == 0) return std::nullopt;
    return parameters{below, options.distortion_scale, options.interpolation,
                      static_cast<float>(options.fill)};
  }

  static steps_need needs(const parameters&) noexcept { return steps_need::pixels; }

  /// The four points are whole pixels, as torchvision draws them.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static pixel_map draw_map(const parameters& by,
                                                               pixel_extents image,
                                                               std::uint32_t random_bits) noexcept {
    if (draw(random_bits, choice{first_draw}) >= by.below) return {};
    const std::uint32_t bound_x =
        static_cast<std::uint32_t>(by.distortion * (image.width / 2)) + 1;  // NOLINT: whole pixels
    const std::uint32_t bound_y =
        static_cast<std::uint32_t>(by.distortion * (image.height / 2)) + 1;  // NOLINT
    image_point to[4];
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t number = first_draw + 1 + 2 * i;
      const std::uint32_t x = draw_below(random_bits, choice{number}, bound_x);
      const std::uint32_t y = draw_below(random_bits, choice{number + 1}, bound_y);
      const bool is_right = i == 1 || i == 2;
      to[i] = {from_centre(is_right ? image.width - bound_x + x : x, image.width),
               from_centre(i >= 2 ? image.height - bound_y + y : y, image.height)};
    }
    return perspective_to(to, image);
  }
  FEEDLINE_HOST_DEVICE static void add_steps(const parameters& by, pixel_extents image,
                                             std::uint32_t random_bits,
                                             sample_steps& steps) noexcept {
    const pixel_map map = draw_map(by, image, random_bits);
    if (map.projects) steps.map.then(map, by.interpolation, by.fill);
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE static float from_centre(std::uint32_t at,
                                                              std::uint32_t extent) noexcept {
    return sum(static_cast<float>(at), product(static_cast<float>(extent), -0.5F));
  }
};

}  // namespace feedline::detail
