#include "image/orientation.hpp"

#include "codecs/jpeg/marker.hpp"
#include "image/file_numbers.hpp"
#include "image/tiff_directory.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <cstring>

namespace feedline::detail {
namespace {

/// The orientation in EXIF's data. Some programs put the name of JPEG's segment before it in other
/// formats, too.
std::uint32_t orientation_in(std::span<const std::byte> exif) noexcept {
  constexpr std::uint32_t orientation_tag = 0x0112;
  if (begins_with<6>(exif, {'E', 'x', 'i', 'f', 0, 0})) exif = exif.subspan(6);
  return tiff_number(exif, orientation_tag).value_or(1);
}

/// The data of a JPEG's EXIF segment.
std::span<const std::byte> exif_of_jpeg(std::span<const std::byte> file) noexcept {
  constexpr char name[] = "Exif\0";  // and another zero
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(file.size(), 0xFFFFFFFF));
  std::uint32_t at = 2;
  for (;;) {
    const std::uint32_t marker = seek_jpeg_marker(bytes, size, at).marker;
    if (marker == 0 || marker == 0xDA || marker == 0xD9 || size - at < 2) return {};
    const std::uint32_t length = std::uint32_t{bytes[at]} << 8U | bytes[at + 1];
    if (length < 2 || length > size - at) return {};
    if (marker == 0xE1 && length >= 2 + sizeof name &&
        std::memcmp(bytes + at + 2, name, sizeof name) == 0)
      return file.subspan(at + 2 + sizeof name, length - 2 - sizeof name);
    at += length;
  }
}

/// The data of a PNG's eXIf chunk.
std::span<const std::byte> exif_of_png(std::span<const std::byte> file) noexcept {
  const file_numbers of{file, false};
  for (std::uint64_t at = 8; at + 12 <= file.size();) {
    const std::uint64_t length = of.at(at, 4);
    if (length > file.size() - at - 12) return {};
    if (std::memcmp(file.data() + at + 4, "eXIf", 4) == 0)
      return file.subspan(static_cast<std::size_t>(at) + 8, static_cast<std::size_t>(length));
    at += length + 12;
  }
  return {};
}

/// The data of a WebP's EXIF chunk.
std::span<const std::byte> exif_of_webp(std::span<const std::byte> file) noexcept {
  const file_numbers of{file, true};
  for (std::uint64_t at = 12; at + 8 <= file.size();) {
    const std::uint64_t length = of.at(at + 4, 4);
    if (length > file.size() - at - 8) return {};
    if (std::memcmp(file.data() + at, "EXIF", 4) == 0)
      return file.subspan(static_cast<std::size_t>(at) + 8, static_cast<std::size_t>(length));
    at += 8 + length + length % 2;
  }
  return {};
}

}  // namespace

orientation orientation::of(std::span<const std::byte> file) noexcept {
  if (is_jpeg(file)) return orientation{orientation_in(exif_of_jpeg(file))};
  if (is_png(file)) return orientation{orientation_in(exif_of_png(file))};
  if (is_webp(file)) return orientation{orientation_in(exif_of_webp(file))};
  if (is_tiff(file)) return orientation{orientation_in(file)};
  return {};
}

void orientation::turn(std::span<const std::byte> from, image_extents stored, pixel_format format,
                       image_layout layout, std::span<std::byte> to) const noexcept {
  const bool in_planes = layout == image_layout::chw;
  const std::size_t bytes = format.value_bytes;
  const std::size_t pixel_stride = in_planes ? bytes : format.pixel_bytes();
  const std::size_t channel_stride =
      in_planes ? bytes * static_cast<std::size_t>(stored.pixels()) : bytes;
  const image_extents shown = turned(stored);
  std::size_t at = 0;
  for (std::uint32_t y = 0; y < shown.height; ++y)
    for (std::uint32_t x = 0; x < shown.width; ++x, at += pixel_stride) {
      std::uint32_t row = transposes() ? x : y;
      std::uint32_t column = transposes() ? y : x;
      if (mirrors_rows()) row = stored.height - 1 - row;
      if (mirrors_columns()) column = stored.width - 1 - column;
      const std::size_t pixel = (std::size_t{row} * stored.width + column) * pixel_stride;
      for (std::size_t channel = 0; channel < format.channels; ++channel)
        std::memcpy(&to[at + channel * channel_stride], &from[pixel + channel * channel_stride],
                    bytes);
    }
}

}  // namespace feedline::detail
