#pragma once

#include "random_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace digits {

inline constexpr std::size_t side = 28;

/// An image by rows; 0 is paper, 255 is ink, like in MNIST.
using picture = std::array<std::uint8_t, side * side>;

/// Writes a digit and takes its picture: the strokes shifted, turned, sheared and scaled, drawn
/// with a pen of some width, then blurred and noised, each by a random amount.
[[nodiscard]] picture paint_digit(int digit, random_stream& random);

}  // namespace digits
