#pragma once

#include <feedline/dataset/image_layout.hpp>
#include <feedline/image/decode.hpp>

#include "image/image_geometry.hpp"
#include "image/resize/pixel_image.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// Writes a sample: an image where it is placed, and the fill around it.
/// @param from Pixels of the window, row after row. @param out All of the sample is written.
void place_pixels(std::span<const std::byte> from, const placed_image& placed, pixel_format format,
                  image_layout layout, const std::array<std::uint8_t, 3>& fill,
                  std::span<std::byte> out);

/// Counts the pixels of a sample and its padding, if images are padded.
void count_padding(const image_options& options, const placed_image& placed) noexcept;

}  // namespace feedline::detail
