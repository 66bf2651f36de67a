#pragma once

#include <feedline/image/decode.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// Kinds of images whose size differs from batch to batch, or that are padded; their names.
/// @param scale Sides are this many times those for images of 20 to 90 pixels.
[[nodiscard]] inline std::vector<std::pair<std::string, image_options>> sized_kinds(
    std::uint32_t scale = 1) {
  const std::vector<image_size> sizes{
      {48 * scale, 32 * scale}, {17 * scale, 40 * scale}, {33 * scale, 33 * scale}};
  std::vector<std::pair<std::string, image_options>> all{
      {"pad",
       {.height = 64 * scale, .width = 64 * scale, .fit = image_fit::pad, .size_divisible = 16}},
      {"pad and flip",
       {.height = 90 * scale,
        .width = 70 * scale,
        .shorter_side = 60 * scale,
        .layout = image_layout::chw,
        .fit = image_fit::pad,
        .size_divisible = 8,
        .fill = {1, 2, 3},
        .flip = 0.5}},
      {"pad, nearest",
       {.height = 50 * scale,
        .width = 50 * scale,
        .interpolation = interpolation::nearest,
        .fit = image_fit::pad,
        .size_divisible = 1,
        .fill = {9, 8, 7}}},
      {"letterbox",
       {.height = 40 * scale,
        .width = 56 * scale,
        .fit = image_fit::letterbox,
        .fill = {124, 116, 104}}},
      {"letterbox, sizes",
       {.interpolation = interpolation::bicubic,
        .fit = image_fit::letterbox,
        .sizes = sizes,
        .fill = {4, 5, 6}}},
      {"sizes", {.layout = image_layout::chw, .sizes = sizes}},
      {"sizes, shorter side", {.shorter_side = 50 * scale, .sizes = sizes}},
      {"sizes, crop",
       {.resized_crop = crop_ranges{}, .interpolation = interpolation::bicubic, .sizes = sizes}}};
  for (auto& [name, options] : all) options.reduced_decoding = false;
  return all;
}

}  // namespace feedline::test
