#pragma once

#include "gpu/decode/decoded_images.hpp"
#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace feedline::test {

/// Decodes on both sides, and compares all rows.
inline void check_images(const std::string& what, const image_row& row,
                         const std::vector<arriving_image>& images) {
  const decoded_images got = decode_on_gpu(row, images);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const arriving_image& each = images[i];
    CAPTURE(what, i, each.height, each.width, each.format == image_format::png);
    CHECK(got.good[i]);
    CHECK((got.rows[i] ==
           decode_on_cpu(row, each.stored, each.window, each.in_row, each.orientation)));
  }
}

/// From 1 on. @param most At least 1.
inline std::uint16_t up_to(std::mt19937& random, std::uint32_t most) {
  return static_cast<std::uint16_t>(1 + random() % most);
}

/// Draws the part of an image from which the row is made.
inline void draw_window(std::mt19937& random, arriving_image& image) {
  source_window& window = image.window;
  window.top = static_cast<std::uint16_t>(up_to(random, image.height) - 1);
  window.left = static_cast<std::uint16_t>(up_to(random, image.width) - 1);
  window.height = up_to(random, image.height - window.top);
  window.width = up_to(random, image.width - window.left);
}

}  // namespace feedline::test
