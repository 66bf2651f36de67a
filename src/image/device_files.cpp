#include "image/device_files.hpp"

#include "codecs/jpeg/frame.hpp"
#include "codecs/png/frame.hpp"
#include "detail/image_side.hpp"
#include "detail/log.hpp"
#include "image/damage_count.hpp"
#include "image/place_pixels.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <iterator>

namespace feedline::detail {
namespace {

/// The marker of a JPEG's frame header, 0xC0 to 0xCF; 0 if there is none before the first scan.
std::uint32_t frame_marker(std::span<const std::byte> file) {
  const auto byte = [&](std::size_t at) { return std::to_integer<std::uint32_t>(file[at]); };
  for (std::size_t at = 2; at + 4 <= file.size();) {
    const std::uint32_t marker = byte(at + 1);
    if (byte(at) != 0xFF || marker == 0xFF) {  // stray bytes, or a filling one
      ++at;
    } else if (marker == 0xDA || marker == 0xD9) {
      return 0;
    } else if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
               marker != 0xCC) {
      return marker;
    } else if (marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {
      at += 2;  // it has no length
    } else {
      at += 2 + (byte(at + 2) << 8U | byte(at + 3));
    }
  }
  return 0;
}

std::string kind_of_jpeg(std::span<const std::byte> file) {
  switch (frame_marker(file)) {
    case 0xC0:
    case 0xC1:
      return "a JPEG of more than " + std::to_string(max_image_pixels) +
             " pixels, of 12 bits, or with channels or a sampling that devices do not know";
    case 0xC2:
      return "a progressive JPEG";
    case 0:
      return "a JPEG without a header of its frame";
    default:
      return "a JPEG that is not coded by Huffman codes in one scan";
  }
}

std::string kind_of_png(std::span<const std::byte> file) {
  constexpr std::size_t interlace_at = 28;
  if (file.size() > interlace_at && file[interlace_at] != std::byte{0}) return "an interlaced PNG";
  return "a PNG of more than " + std::to_string(max_png_pixels) +
         " pixels, or with many or unusual chunks";
}

std::optional<device_file> describe_jpeg(std::span<const std::byte> file) {
  jpeg_frame frame;
  if (!read_jpeg_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), frame))
    return std::nullopt;
  if (image_extents{frame.height, frame.width}.pixels() > max_image_pixels) return std::nullopt;
  return device_file{.block = {.bytes = file.size(), .height = frame.height, .width = frame.width},
                     .has_stray_bytes = frame.has_stray_bytes};
}

std::optional<device_file> describe_png(std::span<const std::byte> file) {
  png_frame frame;
  if (!read_png_frame(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), frame))
    return std::nullopt;
  if (image_extents{frame.height, frame.width}.pixels() > max_png_pixels) return std::nullopt;
  return device_file{.block = {.bytes = file.size(),
                               .height = static_cast<std::uint16_t>(frame.height),
                               .width = static_cast<std::uint16_t>(frame.width),
                               .format = image_format::png,
                               .pixel_bits = static_cast<std::uint8_t>(frame.pixel_bits())},
                     .has_palette = frame.colours == png_frame::palette,
                     .has_indices = frame.has_indices()};
}

}  // namespace

image_row row_on_device(const image_options& options, image_extents largest) {
  const bool fills = options.fit == image_fit::stretch;
  image_row row{.height = largest.height,
                .width = largest.width,
                .shorter_side = fills ? options.shorter_side : 0,
                .layout = options.layout,
                .allow_damaged = options.allow_damaged,
                .interpolation = options.interpolation,
                .channels = options.channels,
                .type = options.type};
  if (!fills) std::copy(options.fill.begin(), options.fill.end(), std::begin(row.fill));
  return row;
}

std::span<const block_step> steps_on_device(const block_step& only) noexcept {
  if (!is_image_side(only.image.height) || !is_image_side(only.image.width)) return {};
  return {&only, 1};
}

std::optional<device_file> describe_for_device(std::span<const std::byte> file) {
  return is_png(file) ? describe_png(file) : describe_jpeg(file);
}

bool place_for_device(encoded_blocks::stored_block& file, const image_options& options,
                      const image_geometry& geometry, image_turn turns,
                      const sample_context& context) {
  const image_extents original{file.height, file.width};
  try {
    const placed_image placed = geometry.place(turns.turned(original), context);
    file.window = image_geometry::source_of(placed);
    if (file.window.height != 0)
      file.window = window_at(turns.as_stored(box_of(file.window), original));
    file.in_row = geometry.in_row(placed);
    file.orientation = static_cast<std::uint8_t>(turns.number());
    count_padding(options, placed);
  } catch (const image_error&) {
    return false;
  }
  return true;
}

std::string kind_left_to_readers(std::span<const std::byte> file) {
  if (is_jpeg(file)) return kind_of_jpeg(file);
  if (is_png(file)) return kind_of_png(file);
  if (is_webp(file)) return "WebP";
  if (is_tiff(file)) return "TIFF";
  if (is_bmp(file)) return "BMP";
  if (is_pnm(file)) return "PPM or PGM";
  return "no image";
}

void images_left_to_readers::add(const std::string& kind) {
  const std::uint64_t count = count_.fetch_add(1) + 1;
  if (is_power_of_ten(count))
    log()->info(
        "images: the device leaves {} to readers, which decode them more slowly; the last is {}; "
        "loader_statistics::decoded counts them",
        count, kind);
}

}  // namespace feedline::detail
