#include "cuda/decode/jpeg/batch.hpp"

namespace feedline::detail {

std::size_t place_jpeg_batch(std::span<jpeg_image> images, std::size_t pixel_bytes) noexcept {
  constexpr std::uint64_t alignment = 256;
  std::uint64_t at = 0;
  std::size_t count = 0;
  for (jpeg_image& image : images) {
    const std::uint64_t end = at + 3 * image.extents.pixels();
    if (count == max_jpeg_batch || end > pixel_bytes) break;
    image.pixels_at = at;
    at = (end + alignment - 1) / alignment * alignment;
    ++count;
  }
  return count;
}

}  // namespace feedline::detail
