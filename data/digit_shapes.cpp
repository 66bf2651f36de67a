#include "digit_shapes.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace digits {
namespace {

enum class joint { corner, curve, loop };  // straight lines; a spline; a spline that closes

struct path {
  joint join;
  std::vector<point> through;
};

using form = std::vector<path>;

/// The ways in which people write each digit.
const std::array<std::vector<form>, 10>& forms() {
  static const std::array<std::vector<form>, 10> all{{
      // 0
      {{{joint::loop,
         {{.5, .08}, {.7, .2}, {.78, .5}, {.7, .8}, {.5, .92}, {.3, .8}, {.22, .5}, {.3, .2}}}},
       {{joint::curve,
         {{.56, .1},
          {.34, .16},
          {.24, .5},
          {.34, .86},
          {.56, .9},
          {.74, .7},
          {.74, .34},
          {.5, .08}}}}},
      // 1
      {{{joint::corner, {{.5, .08}, {.5, .92}}}},
       {{joint::corner, {{.34, .28}, {.53, .08}, {.53, .92}}}},
       {{joint::corner, {{.34, .26}, {.52, .08}, {.52, .92}}},
        {joint::corner, {{.32, .92}, {.72, .92}}}}},
      // 2
      {{{joint::curve,
         {{.24, .28}, {.34, .12}, {.55, .08}, {.73, .2}, {.7, .4}, {.5, .64}, {.24, .9}}},
        {joint::corner, {{.24, .9}, {.78, .9}}}},
       {{joint::curve,
         {{.26, .26},
          {.42, .09},
          {.66, .14},
          {.7, .36},
          {.52, .66},
          {.3, .88},
          {.22, .8},
          {.36, .74},
          {.56, .88},
          {.8, .86}}}}},
      // 3
      {{{joint::curve, {{.26, .16}, {.5, .08}, {.71, .2}, {.65, .4}, {.42, .48}}},
        {joint::curve, {{.42, .48}, {.7, .56}, {.75, .75}, {.55, .92}, {.24, .84}}}},
       {{joint::corner, {{.26, .1}, {.72, .1}, {.46, .42}}},
        {joint::curve, {{.46, .42}, {.7, .52}, {.74, .74}, {.54, .92}, {.24, .84}}}}},
      // 4
      {{{joint::corner, {{.62, .08}, {.2, .62}, {.84, .62}}},
        {joint::corner, {{.62, .08}, {.62, .92}}}},
       {{joint::corner, {{.28, .1}, {.24, .52}, {.78, .52}}},
        {joint::corner, {{.7, .1}, {.66, .92}}}},
       {{joint::curve, {{.26, .1}, {.24, .4}, {.4, .54}, {.7, .46}}},
        {joint::corner, {{.72, .1}, {.68, .92}}}}},
      // 5
      {{{joint::corner, {{.74, .1}, {.33, .1}, {.29, .46}}},
        {joint::curve, {{.29, .46}, {.5, .4}, {.73, .54}, {.73, .76}, {.52, .92}, {.24, .84}}}},
       {{joint::curve,
         {{.72, .08}, {.4, .14}, {.32, .4}, {.6, .5}, {.7, .7}, {.5, .9}, {.26, .86}}}}},
      // 6
      {{{joint::curve,
         {{.68, .1},
          {.42, .26},
          {.27, .55},
          {.3, .8},
          {.5, .92},
          {.71, .78},
          {.67, .58},
          {.48, .52},
          {.3, .66}}}},
       {{joint::curve,
         {{.54, .08},
          {.36, .4},
          {.28, .7},
          {.42, .92},
          {.66, .84},
          {.66, .62},
          {.44, .6},
          {.32, .76}}}}},
      // 7
      {{{joint::corner, {{.22, .1}, {.78, .1}, {.44, .92}}}},
       {{joint::corner, {{.22, .1}, {.78, .1}, {.44, .92}}},
        {joint::corner, {{.36, .5}, {.7, .5}}}},
       {{joint::curve, {{.2, .2}, {.4, .1}, {.76, .12}, {.62, .42}, {.48, .92}}}}},
      // 8
      {{{joint::loop,
         {{.66, .18},
          {.5, .08},
          {.33, .18},
          {.34, .34},
          {.5, .48},
          {.7, .64},
          {.7, .82},
          {.5, .92},
          {.3, .82},
          {.3, .64},
          {.5, .48},
          {.66, .34}}}},
       {{joint::loop, {{.5, .08}, {.68, .2}, {.66, .38}, {.5, .46}, {.34, .38}, {.32, .2}}},
        {joint::loop, {{.5, .46}, {.72, .6}, {.7, .82}, {.5, .92}, {.3, .82}, {.28, .6}}}}},
      // 9
      {{{joint::loop, {{.7, .3}, {.54, .5}, {.33, .42}, {.31, .2}, {.5, .08}, {.68, .16}}},
        {joint::curve, {{.7, .26}, {.68, .6}, {.58, .92}}}},
       {{joint::loop, {{.7, .28}, {.52, .48}, {.32, .4}, {.32, .18}, {.52, .08}}},
        {joint::curve, {{.7, .2}, {.72, .6}, {.6, .86}, {.32, .88}}}}},
  }};
  return all;
}

/// Catmull and Rom's spline between b and c.
point between(const point& a, const point& b, const point& c, const point& d, double t) {
  const auto along = [t](double p, double q, double r, double s) {
    return 0.5 * (2 * q + (r - p) * t + (2 * p - 5 * q + 4 * r - s) * t * t +
                  (3 * q - p - 3 * r + s) * t * t * t);
  };
  return {along(a.x, b.x, c.x, d.x), along(a.y, b.y, c.y, d.y)};
}

stroke through_curve(std::span<const point> points, bool closed) {
  constexpr int pieces = 5;
  const auto count = static_cast<std::ptrdiff_t>(points.size());
  const auto at = [&](std::ptrdiff_t i) {
    if (closed) return points[static_cast<std::size_t>((i + count) % count)];
    return points[static_cast<std::size_t>(i < 0 ? 0 : i < count ? i : count - 1)];
  };
  stroke line{at(0)};
  for (std::ptrdiff_t i = 0; i < (closed ? count : count - 1); ++i)
    for (int piece = 1; piece <= pieces; ++piece)
      line.push_back(
          between(at(i - 1), at(i), at(i + 1), at(i + 2), static_cast<double>(piece) / pieces));
  return line;
}

}  // namespace

std::vector<stroke> write_digit(int digit, random_stream& random) {
  constexpr double unsteadiness = 0.045;
  const auto& ways = forms().at(static_cast<std::size_t>(digit));
  const form& chosen = ways[static_cast<std::size_t>(random.below(static_cast<int>(ways.size())))];

  std::vector<stroke> strokes;
  for (const path& way : chosen) {
    std::vector<point> points = way.through;
    for (point& p : points) {
      p.x += unsteadiness * random.normal();
      p.y += unsteadiness * random.normal();
    }
    strokes.push_back(way.join == joint::corner ? points
                                                : through_curve(points, way.join == joint::loop));
  }
  return strokes;
}

}  // namespace digits
