#pragma once

#include "cuda/assembly/assembly_plan.hpp"
#include "device/sample_random_bits.hpp"

#include <cstdint>

namespace feedline::detail {

/// An element of an image, by its coordinates. A coordinate outside the image is at least its width
/// or height.
struct pixel {
  std::uint32_t channel;
  std::uint32_t y;
  std::uint32_t x;
};

/// @param outer Divides by the channels if they are last, else by the size of a plane.
__device__ inline pixel pixel_of(std::uint32_t element, bool channels_last, const divider& outer,
                                 const divider& lines) {
  const std::uint32_t quotient = outer.quotient(element);
  const std::uint32_t rest = element - quotient * outer.divisor();
  const std::uint32_t in_plane = channels_last ? quotient : rest;
  const std::uint32_t y = lines.quotient(in_plane);
  return {channels_last ? rest : quotient, y, in_plane - y * lines.divisor()};
}

__device__ inline std::uint32_t element_of(const pixel& at, bool channels_last,
                                           std::uint32_t channels, std::uint32_t height,
                                           std::uint32_t width) {
  return channels_last ? (at.y * width + at.x) * channels + at.channel
                       : (at.channel * height + at.y) * width + at.x;
}

/// The pixel of the dataset's image from which a pixel of the batch's image is made. Coordinates
/// below 0 wrap, and are then outside as well.
__device__ inline pixel source_pixel(const conversion& by, const image_window& window, pixel at) {
  const std::uint32_t x = window.flipped ? by.to_width - 1 - at.x : at.x;
  return {at.channel, at.y + window.top - by.padding, x + window.left - by.padding};
}
__device__ inline bool is_inside(const conversion& by, const pixel& source) {
  return source.y < by.height && source.x < by.width;
}

/// The pixel of the batch's image that is made from a pixel of the dataset's image; outside if the
/// window leaves it out.
__device__ inline pixel target_pixel(const conversion& by, const image_window& window, pixel at) {
  const std::uint32_t x = at.x + by.padding - window.left;
  return {at.channel, at.y + by.padding - window.top, window.flipped ? by.to_width - 1 - x : x};
}
__device__ inline bool is_in_window(const conversion& by, const pixel& target) {
  return target.y < by.to_height && target.x < by.to_width;
}

/// A product and a sum, each rounded: never contracted into one operation.
__device__ inline float scaled(const conversion& by, std::uint32_t channel, float value) {
  const std::uint32_t place = by.per_channel ? channel : 0;
  return __fadd_rn(__fmul_rn(value, by.scale[place]), by.offset[place]);
}

}  // namespace feedline::detail
