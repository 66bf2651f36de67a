#pragma once

#include "random_stream.hpp"

#include <vector>

namespace digits {

struct point {
  double x = 0.0;
  double y = 0.0;
};

/// A pen's path over the paper: points joined by straight lines.
using stroke = std::vector<point>;

/// The strokes of a digit as one hand might write it this time: one of the digit's forms, its
/// control points moved a little. Drawn in the unit square, y downwards.
/// @param digit 0 to 9.
[[nodiscard]] std::vector<stroke> write_digit(int digit, random_stream& random);

}  // namespace digits
