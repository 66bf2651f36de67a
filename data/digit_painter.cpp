#include "digit_painter.hpp"

#include "digit_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace digits {
namespace {

using canvas = std::array<double, side * side>;  // 0 is paper, 1 is ink

/// Maps this picture's digit from the unit square to pixels.
struct placement {
  double xx, xy, yx, yy, x0, y0;

  [[nodiscard]] point operator()(const point& p) const {
    const double x = p.x - 0.5;
    const double y = p.y - 0.5;
    return {x0 + xx * x + xy * y, y0 + yx * x + yy * y};
  }
};

placement draw_placement(random_stream& random) {
  const double size = 21.0 * random.uniform(0.7, 1.08);
  const double narrow = random.uniform(0.8, 1.1);
  const double slant = 0.2 * random.normal();
  // The half angle's tangent gives sine and cosine by arithmetic alone: the same on every platform.
  const double t = std::clamp(0.1 * random.normal(), -0.3, 0.3);
  const double cosine = (1 - t * t) / (1 + t * t);
  const double sine = 2 * t / (1 + t * t);
  const double xx = size * narrow;
  const double xy = -size * slant;
  placement place{};
  place.xx = cosine * xx;
  place.xy = cosine * xy - sine * size;
  place.yx = sine * xx;
  place.yy = sine * xy + cosine * size;
  place.x0 = side / 2.0 + 1.6 * random.normal();
  place.y0 = side / 2.0 + 1.6 * random.normal();
  return place;
}

double squared_distance(const point& p, const point& from, const point& to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length = dx * dx + dy * dy;
  const double along =
      length > 0 ? std::clamp(((p.x - from.x) * dx + (p.y - from.y) * dy) / length, 0.0, 1.0) : 0.0;
  const double ex = p.x - (from.x + along * dx);
  const double ey = p.y - (from.y + along * dy);
  return ex * ex + ey * ey;
}

/// Inks every pixel by its distance to the line, with an edge one pixel soft.
void draw_line(canvas& paper, const point& from, const point& to, double half_width, double ink) {
  const double reach = half_width + 0.5;
  const auto pixel = [](double at) {
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(side)));
  };
  for (std::size_t y = pixel(std::min(from.y, to.y) - reach);
       y < pixel(std::max(from.y, to.y) + reach + 1); ++y)
    for (std::size_t x = pixel(std::min(from.x, to.x) - reach);
         x < pixel(std::max(from.x, to.x) + reach + 1); ++x) {
      const point centre{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      const double distance = std::sqrt(squared_distance(centre, from, to));
      double& here = paper[y * side + x];
      here = std::max(here, ink * std::clamp(reach - distance, 0.0, 1.0));
    }
}

/// @param spread The share that goes to the neighbours, along each axis.
void blur(canvas& paper, double spread) {
  const auto along = [&](std::size_t step, std::size_t line) {
    for (std::size_t at = 0; at < side; ++at) {
      double before = 0.0;
      for (std::size_t i = 0; i < side; ++i) {
        double& here = paper[at * line + i * step];
        const double after = i + 1 < side ? paper[at * line + (i + 1) * step] : 0.0;
        const double was = here;
        here = (1 - spread) * was + 0.5 * spread * (before + after);
        before = was;
      }
    }
  };
  along(1, side);
  along(side, 1);
}

}  // namespace

picture paint_digit(int digit, random_stream& random) {
  const std::vector<stroke> strokes = write_digit(digit, random);
  const placement place = draw_placement(random);
  const double half_width = random.uniform(0.7, 1.7);
  const double ink = random.uniform(0.7, 1.0);

  canvas paper{};
  for (const stroke& line : strokes)
    for (std::size_t i = 1; i < line.size(); ++i)
      draw_line(paper, place(line[i - 1]), place(line[i]), half_width, ink);
  blur(paper, random.uniform(0.0, 0.5));

  const double noise = random.uniform(0.0, 0.2);
  picture out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double level = std::clamp(paper[i] + noise * random.normal(), 0.0, 1.0);
    out[i] = static_cast<std::uint8_t>(level * 255.0 + 0.5);
  }
  return out;
}

}  // namespace digits
