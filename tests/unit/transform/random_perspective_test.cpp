#include "transform/operations/random_perspective.hpp"

#include <feedline/error.hpp>

#include "device/transform_row.hpp"
#include "support/checks/catch.hpp"
#include "transform/field_conversions.hpp"
#include "transform/operations/operations.hpp"
#include "unit/transform/transformed.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using namespace feedline::test;

namespace {

using point = std::array<double, 2>;

/// Where a map takes a point of the batch's image, both measured from the centre.
point moved(const pixel_map& map, point from) {
  const double by = double{map.w_of_x} * from[0] + double{map.w_of_y} * from[1] + double{map.w};
  return {(double{map.x_of_x} * from[0] + double{map.x_of_y} * from[1] + double{map.x}) / by,
          (double{map.y_of_x} * from[0] + double{map.y_of_y} * from[1] + double{map.y}) / by};
}

pixel_map perspective_of(const std::array<point, 4>& to, pixel_extents image) {
  image_point points[4];
  for (std::size_t i = 0; i < 4; ++i)
    points[i] = {static_cast<float>(to[i][0]), static_cast<float>(to[i][1])};
  return perspective_to(points, image);
}

}  // namespace

TEST_CASE("perspective: an image's corners come from the four points", "[transfer][host]") {
  const pixel_extents image{101, 141};
  const std::array<point, 4> to{{{-40, -33}, {70, -50}, {55, 20}, {-62, 41}}};
  const pixel_map map = perspective_of(to, image);
  REQUIRE(map.projects);
  const std::array<point, 4> corners{{{-70.5, -50.5}, {69.5, -50.5}, {69.5, 49.5}, {-70.5, 49.5}}};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 2; ++k)
      CHECK(moved(map, to[i])[k] == Approx(corners[i][k]).margin(1e-3));
  // Straight lines stay straight: the diagonals' crossing goes to the rectangle's middle.
  const auto cross = [](point a, point b) { return a[0] * b[1] - a[1] * b[0]; };
  const point d{to[2][0] - to[0][0], to[2][1] - to[0][1]};
  const point e{to[3][0] - to[1][0], to[3][1] - to[1][1]};
  const double along = cross({to[1][0] - to[0][0], to[1][1] - to[0][1]}, e) / cross(d, e);
  const point middle = moved(map, {to[0][0] + along * d[0], to[0][1] + along * d[1]});
  CHECK(middle[0] == Approx(-0.5).margin(1e-3));
  CHECK(middle[1] == Approx(-0.5).margin(1e-3));
}

TEST_CASE("perspective: points are whole pixels, each as likely as torchvision draws it",
          "[transfer][host]") {
  // The bounds are int(0.5 * 20) + 1 = 11 columns and int(0.5 * 8) + 1 = 5 lines. A map has the
  // inverse of the corners' move, so corners are found by a second inversion.
  const random_perspective_operation::parameters by{always, 0.5};
  const pixel_extents image{17, 40};
  std::array<std::array<int, 11>, 4> columns{};
  std::array<std::array<int, 5>, 4> lines{};
  constexpr std::uint32_t many = 1'000'000;
  for (std::uint32_t i = 0; i < many; ++i) {
    const pixel_map m = random_perspective_operation::draw_map(by, image, draw(i, choice{12345}));
    const std::array<double, 9> a{m.x_of_x, m.x_of_y, m.x,      m.y_of_x, m.y_of_y,
                                  m.y,      m.w_of_x, m.w_of_y, m.w};
    std::array<double, 9> back{};
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t column = 0; column < 3; ++column) {
        const auto at = [&](std::size_t y, std::size_t x) { return a[y % 3 * 3 + x % 3]; };
        back[row * 3 + column] = at(column + 1, row + 1) * at(column + 2, row + 2) -
                                 at(column + 1, row + 2) * at(column + 2, row + 1);
      }
    const std::array<point, 4> corners{{{-20, -8.5}, {19, -8.5}, {19, 7.5}, {-20, 7.5}}};
    for (std::size_t k = 0; k < 4; ++k) {
      const auto of = [&](std::size_t row) {
        return back[row * 3] * corners[k][0] + back[row * 3 + 1] * corners[k][1] +
               back[row * 3 + 2];
      };
      const auto x = std::lround(of(0) / of(2) + 20) - (k == 1 || k == 2 ? 29 : 0);
      const auto y = std::lround(of(1) / of(2) + 8.5) - (k >= 2 ? 12 : 0);
      if (x < 0 || x > 10 || y < 0 || y > 4) FAIL("corner " << k << " at " << x << ' ' << y);
      ++columns[k][static_cast<std::size_t>(x)];
      ++lines[k][static_cast<std::size_t>(y)];
    }
  }
  const auto is_share = [&](int count, double share) {
    return std::abs(count - many * share) < 5 * std::sqrt(many * share * (1 - share));
  };
  for (std::size_t k = 0; k < 4; ++k) {
    for (const int count : columns[k]) CHECK(is_share(count, 1.0 / 11));
    for (const int count : lines[k]) CHECK(is_share(count, 1.0 / 5));
  }
}

TEST_CASE("perspective: with an affine transform before it and another one after it, it is one map",
          "[transfer][host]") {
  const pixel_extents image{101, 141};
  const pixel_map turn = pixel_map::of(20, 3, -4, 1.2F, 5, 0);
  const pixel_map shows = perspective_of({{{-40, -33}, {70, -50}, {55, 20}, {-62, 41}}}, image);
  pixel_map all;
  all.then(turn);
  all.then(shows);
  all.then(turn);
  CHECK(all.any);
  CHECK(all.projects);
  for (const double x : {-60.0, 0.0, 33.0})
    for (const double y : {-50.0, 10.0}) {
      const point found = moved(all, {x, y});
      const point wanted = moved(turn, moved(shows, moved(turn, {x, y})));
      CHECK(found[0] == Approx(wanted[0]).margin(1e-2));
      CHECK(found[1] == Approx(wanted[1]).margin(1e-2));
    }
}

TEST_CASE("perspective: lines, points and folded images have no value out of bounds",
          "[transfer][host]") {
  for (const auto& [height, width] : {std::pair{1U, 1U}, std::pair{1U, 9U}, std::pair{9U, 1U},
                                      std::pair{2U, 2U}, std::pair{30U, 33U}}) {
    field_transform transform = plain();
    transform.perspective = random_perspective{.distortion_scale = 1, .probability = 1};
    const auto converted =
        convert_fields({{"x", element_type::u8, {height, width, 3}}}, {transform});
    const std::vector<std::byte> row(std::size_t{height} * width * 3, std::byte{200});
    std::vector<float> out(row.size());
    for (std::uint32_t bits = 0; bits < 3000; ++bits) {
      transform_row(converted.conversions[0], row.data(), row.size(), bits * 7919,
                    reinterpret_cast<std::byte*>(out.data()));
      for (const float value : out)
        if (!(value >= 0 && value <= 200.1F)) FAIL("a value is " << value);
    }
    if (height == 1 || width == 1) CHECK(out == std::vector<float>(row.size(), 200.0F));
  }
}

TEST_CASE("perspective: its text names it, and what it cannot do is refused", "[transfer][host]") {
  field_transform transform = plain();
  transform.perspective = random_perspective{};
  CHECK(to_string(transform) == "x: float32, layout hwc, perspective 0.5 distortion 0.5 bilinear");
  CHECK(refusal(transform) == "[nothing was thrown]");
  const std::string of_x = "transform of field 'x': ";
  transform.perspective = random_perspective{.distortion_scale = 1.5};
  CHECK(refusal(transform) == of_x + "perspective.distortion_scale is 1.5: say 0 to 1");
  transform.perspective = random_perspective{.probability = -1};
  CHECK(refusal(transform) == of_x + "perspective.probability is -1: say 0 to 1");
  transform.perspective = random_perspective{.fill = 300};
  CHECK(refusal(transform) == of_x + "perspective.fill is 300: say 0 to 255");
  transform.perspective = random_perspective{.interpolation = feedline::interpolation::bicubic};
  CHECK(refusal(transform) ==
        of_x + "perspective.interpolation is bicubic: say nearest or bilinear");
  transform.perspective = random_perspective{.probability = 0};
  CHECK_FALSE(convert_fields({{"x", element_type::u8, {8, 6, 3}}}, {transform}).random);
}
