#pragma once

#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/geometry.cuh"
#include "device/source_window.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// A sample's image, and how it is cropped or resized.
struct augmented_image {
  const std::byte* row;
  image_window crop;   ///< used if the image is not resized
  image_part resized;  ///< else the part of the image that is resized
  bool flipped;
};

/// A part of a batch's image that a block makes at once: each warp makes some of its rows.
struct augment_tile {
  std::uint32_t top;
  std::uint32_t left;
  std::uint32_t height;
  std::uint32_t width;
};

/// The calling thread's column of a tile, and the first of its rows.
__device__ inline std::uint32_t tile_column() {
  return threadIdx.x % augment_tile_width;
}
__device__ inline std::uint32_t tile_row() {
  return threadIdx.x / augment_tile_width;
}
static_assert(augment_tile_width == warp_threads);

/// @param number Index among an image's tiles, row by row.
__device__ inline augment_tile tile_of(const conversion& by, std::uint32_t number) {
  const std::uint32_t down = by.tiles_across.quotient(number);
  const std::uint32_t top = down * augment_tile_height;
  const std::uint32_t left = (number - down * by.tiles_across.divisor()) * augment_tile_width;
  return {top, left, min(by.to_height - top, augment_tile_height),
          min(by.to_width - left, augment_tile_width)};
}

/// Kinds of images that kernels are compiled for.
enum class image_kind : std::uint8_t { any, rgb_bytes };

/// The number of channels of an image from channel `first` on, three at most.
template <image_kind Kind>
__device__ std::uint32_t channels_from(const conversion& by, std::uint32_t first) {
  return Kind == image_kind::rgb_bytes ? 3 : min(by.channels - first, 3U);
}

/// The elements of an image: its pixels' channels from `first` on.
template <class T, image_kind Kind>
class source_elements {
 public:
  __device__ source_elements(const conversion& by, const std::byte* row, std::uint32_t first)
      : row_{row},
        width_{by.width},
        column_apart_{by.channels_last ? by.channels : 1},
        channel_apart_{by.channels_last ? 1 : by.height * by.width},
        begin_{first * channel_apart_},
        aligned_{by.aligned_loads} {}

  /// The index of a pixel's first element, and its distance to that of the next column.
  [[nodiscard]] __device__ std::uint32_t at(std::uint32_t y, std::uint32_t x) const {
    return begin_ + (y * width_ + x) * column_apart();
  }
  [[nodiscard]] __device__ std::uint32_t column_apart() const {
    return Kind == image_kind::rgb_bytes ? 3 : column_apart_;
  }
  [[nodiscard]] __device__ float load(std::uint32_t element, std::uint32_t channel) const {
    if constexpr (Kind == image_kind::rgb_bytes)
      return to_float(__ldg(reinterpret_cast<const T*>(row_ + element) + channel));
    else
      return to_float(load_element<T>(row_, element + channel * channel_apart_, aligned_));
  }

 private:
  const std::byte* row_;
  std::uint32_t width_;
  std::uint32_t column_apart_;
  std::uint32_t channel_apart_;
  std::uint32_t begin_;
  bool aligned_;
};

}  // namespace feedline::detail
