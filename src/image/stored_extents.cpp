#include "image/stored_extents.hpp"

#include "image/file_numbers.hpp"
#include "image/orientation.hpp"
#include "image/pnm_header.hpp"
#include "image/reader.hpp"
#include "image/tiff_directory.hpp"
#include "io/file_magic.hpp"

#include <cstdint>
#include <cstring>

namespace feedline::detail {
namespace {

/// Extents as two numbers of the same size; empty: the file ends before them.
std::optional<image_extents> extents_at(const file_numbers& file, std::uint64_t height,
                                        std::uint64_t width, std::uint32_t size) noexcept {
  if (!file.has(height, size) || !file.has(width, size)) return std::nullopt;
  return image_extents{static_cast<std::uint32_t>(file.at(height, size)),
                       static_cast<std::uint32_t>(file.at(width, size))};
}

/// Goes through a JPEG's segments to the one that begins its frame.
std::optional<image_extents> extents_of_jpeg(std::span<const std::byte> bytes) noexcept {
  const file_numbers file{bytes, false};
  std::uint64_t at = 2;
  while (file.has(at, 9)) {
    const std::uint64_t marker = file.at(at, 2);
    const bool has_length =
        marker > 0xFF01 && marker < 0xFFFF && (marker < 0xFFD0 || marker > 0xFFD9);
    if (!has_length) {  // a stray or filling byte
      ++at;
      continue;
    }
    const bool is_frame = marker >= 0xFFC0 && marker <= 0xFFCF && marker != 0xFFC4 &&
                          marker != 0xFFC8 && marker != 0xFFCC;
    if (is_frame) return extents_at(file, at + 5, at + 7, 2);
    at += 2 + file.at(at + 2, 2);
  }
  return std::nullopt;
}

/// The first chunk is the image, or says the extents of the one that follows.
std::optional<image_extents> extents_of_webp(std::span<const std::byte> file) noexcept {
  const file_numbers of{file, true};
  if (!of.has(12, 18)) return std::nullopt;
  const auto is_chunk = [&](const char* name) {
    return std::memcmp(file.data() + 12, name, 4) == 0;
  };
  constexpr std::uint32_t fourteen_bits = 0x3FFF;
  if (is_chunk("VP8X")) {
    const auto before = *extents_at(of, 27, 24, 3);
    return image_extents{before.height + 1, before.width + 1};
  }
  if (is_chunk("VP8 ")) {
    const auto scaled = *extents_at(of, 28, 26, 2);
    return image_extents{scaled.height & fourteen_bits, scaled.width & fourteen_bits};
  }
  if (!is_chunk("VP8L")) return std::nullopt;
  const auto both = static_cast<std::uint32_t>(of.at(21, 4));
  return image_extents{(both >> 14U & fourteen_bits) + 1, (both & fourteen_bits) + 1};
}

std::optional<image_extents> extents_of_tiff(std::span<const std::byte> file) noexcept {
  const auto width = tiff_number(file, 256);
  const auto height = tiff_number(file, 257);
  if (!width || !height) return std::nullopt;
  return image_extents{*height, *width};
}

std::optional<image_extents> extents_of_bmp(std::span<const std::byte> file) noexcept {
  auto extents = extents_at({file, true}, 22, 18, 4);
  constexpr std::uint32_t negative = 0x80000000;  // rows come from above
  if (extents && extents->height >= negative) extents->height = 0U - extents->height;
  return extents;
}

std::optional<image_extents> extents_of_pnm(std::span<const std::byte> file) noexcept try {
  return read_pnm_header(file).extents;
} catch (const image_error&) {
  return std::nullopt;
}

}  // namespace

std::optional<image_extents> stored_extents(std::span<const std::byte> file,
                                            bool follows_orientation) noexcept {
  std::optional<image_extents> extents;
  if (is_jpeg(file)) extents = extents_of_jpeg(file);
  if (is_png(file)) extents = extents_at({file, false}, 20, 16, 4);
  if (is_webp(file)) extents = extents_of_webp(file);
  if (is_tiff(file)) extents = extents_of_tiff(file);
  if (is_bmp(file)) extents = extents_of_bmp(file);
  if (is_pnm(file)) extents = extents_of_pnm(file);
  if (!extents || extents->pixels() == 0) return std::nullopt;
  return follows_orientation ? orientation::of(file).turned(*extents) : extents;
}

}  // namespace feedline::detail
