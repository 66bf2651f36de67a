#include "cuda/decode/jpeg/batch.hpp"

#include "codecs/png/frame.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr std::uint64_t aligned(std::uint64_t bytes) noexcept {
  return round_up<std::uint64_t>(bytes, 256);
}

/// Size of the table of a batch's images, which kernels read.
constexpr std::uint64_t table_bytes = aligned(max_jpeg_batch * sizeof(jpeg_image));

/// Offset of the taps from an image's pixels; the taps are last.
constexpr std::uint64_t taps_behind(const jpeg_image& image) noexcept {
  const image_extents& extents = image.extents;
  if (image.format == image_format::png)
    return png_data_behind(image) +
           aligned(
               std::min<std::uint64_t>(image.bytes, max_png_data_bytes(max_png_rows_bytes(image))));
  return jpeg_blocks_behind(extents) + max_jpeg_blocks(extents) * jpeg_pixels::block_stride;
}

/// @param sides Height and width of the image, added.
constexpr std::uint64_t taps_bytes(std::uint64_t sides, const image_row& row) noexcept {
  const std::uint64_t words = packed_taps::max_words(row.interpolation, sides, row.height) +
                              packed_taps::max_words(row.interpolation, 0, row.width);
  return sizeof(jpeg_taps) + sizeof(std::uint32_t) * words;
}

std::uint64_t image_bytes(const jpeg_image& image, const image_row& row) noexcept {
  const std::uint64_t sides = std::uint64_t{image.extents.height} + image.extents.width;
  return jpeg_header_bytes + taps_behind(image) + taps_bytes(sides, row);
}

/// Bound on the memory of any image. If the product of two sides is bounded, their sum, and with it
/// the memory that partial MCUs take, is largest if one side has its maximum length. So is the
/// memory of a PNG's rows, which have up to 31 bytes a channel and one of the filter besides,
/// and that of the rows which resizing reads after them.
constexpr std::uint64_t largest_image_bytes(const image_row& row) noexcept {
  constexpr std::uint64_t longest = max_image_side;
  constexpr std::uint64_t sides = longest + max_jpeg_pixels / longest + 30;
  constexpr std::uint64_t max_mcus = (max_jpeg_pixels + 15 * sides) / 256;
  constexpr std::uint64_t max_png_rows = 8 * max_png_pixels + longest;
  constexpr std::uint64_t jpeg_bytes =
      4 * max_jpeg_pixels + 12 * max_mcus * jpeg_pixels::block_stride;
  const std::uint64_t pixel_bytes = row.type == element_type::u16 ? 6 : 3;
  const std::uint64_t png_bytes =
      pixel_bytes * (max_png_pixels + (32 + max_rows_beyond) * longest) + max_png_rows +
      max_png_data_bytes(max_png_rows) + 3 * std::uint64_t{256};
  return aligned(jpeg_header_bytes + std::max(jpeg_bytes, png_bytes) + taps_bytes(sides, row));
}

}  // namespace

std::size_t jpeg_memory_bytes(std::size_t max_images, const image_row& row) noexcept {
  // An image of 500 x 375 pixels, and some margin.
  const std::uint64_t usual = (std::uint64_t{1920} << 10U) + taps_bytes(0, row);
  const std::uint64_t batch = std::min<std::uint64_t>(max_images, 256) * usual;
  // A PNG of 256 x 256 pixels of 24 bits, and some margin.
  const std::uint64_t png = (std::uint64_t{544} << 10U) + taps_bytes(512, row);
  const std::uint64_t pngs =
      max_images > 512 ? std::min<std::uint64_t>(max_images, max_jpeg_batch) * png : 0;
  const std::uint64_t images = std::max({largest_image_bytes(row), batch, pngs});
  return static_cast<std::size_t>(table_bytes + images);
}

std::size_t large_jpegs_bytes(std::size_t max_images, std::size_t usual_bytes,
                              std::size_t device_bytes) noexcept {
  constexpr std::size_t at_once = 64;
  // Photographs have some three pixels for each byte of their file, and each takes ten bytes.
  constexpr std::size_t bytes_for_each = 30;
  constexpr std::size_t share = 48;  // there are several decoders
  return std::min(std::min(max_images, at_once) * bytes_for_each * usual_bytes,
                  device_bytes / share);
}

std::size_t place_jpeg_batch(std::span<jpeg_image> images, std::size_t bytes,
                             const image_row& row) noexcept {
  std::uint64_t at = table_bytes;
  std::size_t count = 0;
  for (jpeg_image& image : images) {
    const std::uint64_t end = at + image_bytes(image, row);
    if (count == max_jpeg_batch || end > bytes) break;
    image.pixels_at = at + jpeg_header_bytes;
    image.taps_at = image.pixels_at + taps_behind(image);
    at = aligned(end);
    ++count;
  }
  return count;
}

}  // namespace feedline::detail
