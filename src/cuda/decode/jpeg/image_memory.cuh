#pragma once

#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/scan_segments.hpp"
#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/jpeg/kernels.hpp"

#include <cstdint>

namespace feedline::detail {

/// Results about an image that kernels leave for the kernels after them.
struct image_header {
  jpeg_frame frame;  ///< frame of its file; no components if there is no image
  jpeg_verdict scan;
  jpeg_factors factors;
};
static_assert(sizeof(image_header) <= jpeg_header_bytes);

/// An image's memory.
struct image_memory {
  image_header* header;
  std::uint8_t* pixels;
  std::int16_t* blocks;

  __device__ image_memory(const jpeg_batch& batch, const jpeg_image& image)
      : header{reinterpret_cast<image_header*>(batch.memory + image.pixels_at - jpeg_header_bytes)},
        pixels{reinterpret_cast<std::uint8_t*>(batch.memory + image.pixels_at)},
        blocks{reinterpret_cast<std::int16_t*>(pixels + jpeg_blocks_behind(image.extents))} {}
};

}  // namespace feedline::detail
