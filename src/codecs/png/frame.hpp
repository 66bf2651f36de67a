#pragma once

#include "detail/host_device.hpp"
#include "detail/image_side.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Facts that a decoder needs about a PNG file that a device decodes: not interlaced, with its
/// chunks in order up to IEND, and with none that decoders could understand differently.
struct png_frame {
  enum colour : std::uint8_t { grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgb_alpha = 6 };

  std::uint32_t height;
  std::uint32_t width;
  std::uint32_t palette_at;       ///< offset in the file of the palette's entries, 3 bytes each
  std::uint32_t palette_entries;  ///< 0: there is no palette
  std::uint32_t data_bytes;       ///< bytes of all IDAT chunks: a zlib stream
  std::uint8_t depth;             ///< bits of a sample
  std::uint8_t colours;

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t samples() const {
    return colours == rgb ? 3 : colours == grey_alpha ? 2 : colours == rgb_alpha ? 4 : 1;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t pixel_bits() const { return samples() * depth; }
  /// Distance of the bytes that a filter relates: those of a pixel, or one.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t unit_bytes() const {
    return (pixel_bits() + 7) / 8;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t row_bytes() const {
    return (width * pixel_bits() + 7) / 8;
  }
  /// Whether a pixel's value can be a class: an index of the palette, or grey of up to 8 bits.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool has_indices() const {
    return depth <= 8 && (colours == palette || colours == grey);
  }
  /// Bytes of all rows, each with the byte that names its filter.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint64_t filtered_bytes() const {
    return (std::uint64_t{1} + row_bytes()) * height;
  }
};

/// Most bytes that rows of so many bytes take compressed, in a file that devices decode: every
/// encoder stores what does not compress.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t max_png_data_bytes(
    std::uint64_t filtered_bytes) {
  return filtered_bytes + filtered_bytes / 8 + 4096;
}

/// A chunk of a file.
struct png_chunk {
  static constexpr std::uint32_t ihdr = 0x49484452;
  static constexpr std::uint32_t plte = 0x504C5445;
  static constexpr std::uint32_t idat = 0x49444154;
  static constexpr std::uint32_t iend = 0x49454E44;
  static constexpr std::uint32_t frame_bytes = 12;  ///< length, name, checksum

  std::uint32_t at;  ///< offset of its data
  std::uint32_t bytes;
  std::uint32_t name;

  /// Whether a decoder must understand it, and refuse it if its checksum is wrong.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_critical() const { return (name >> 29U & 1U) == 0; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t end() const { return at + bytes + 4; }
};

[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t png_number(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24U | std::uint32_t{at[1]} << 16U | std::uint32_t{at[2]} << 8U |
         at[3];
}

/// Offset of the first chunk's length.
inline constexpr std::uint32_t png_chunks_at = 8;

/// Reads a file's chunk. @param at Offset of its length. @return False if the file has no whole
/// chunk there, or its name is not of letters with a capital as the third: versions of libpng
/// differ on that.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline bool read_png_chunk(const std::uint8_t* file,
                                                              std::uint32_t bytes, std::uint32_t at,
                                                              png_chunk& out) {
  if (at > bytes || bytes - at < png_chunk::frame_bytes) return false;
  out = {at + 8, png_number(file + at), png_number(file + at + 4)};
  if (out.bytes > bytes - at - png_chunk::frame_bytes) return false;
  for (std::uint32_t shift = 0; shift < 32; shift += 8) {
    const std::uint32_t letter = (out.name >> shift | 0x20U) & 255U;
    if (letter < 'a' || letter > 'z') return false;
  }
  return (out.name >> 13U & 1U) == 0;
}

/// Reads a file's chunks. Checksums are not compared here.
class png_header {
 public:
  FEEDLINE_HOST_DEVICE png_header(const std::uint8_t* file, std::uint32_t bytes, png_frame& out)
      : file_{file}, bytes_{bytes}, out_{out} {}

  FEEDLINE_HOST_DEVICE bool read() {
    out_ = {};
    png_chunk chunk{};
    if (bytes_ < png_chunks_at || png_number(file_) != 0x89504E47 ||
        png_number(file_ + 4) != 0x0D0A1A0A ||
        !read_png_chunk(file_, bytes_, png_chunks_at, chunk) || !header(chunk))
      return false;
    for (std::uint32_t count = 0; count < max_chunks; ++count) {
      if (!read_png_chunk(file_, bytes_, chunk.end(), chunk)) return false;
      if (chunk.name == png_chunk::iend) return chunk.bytes == 0 && is_stream_known();
      if (!take(chunk)) return false;
    }
    return false;
  }

 private:
  /// Devices read chunks one after the other.
  static constexpr std::uint32_t max_chunks = 4096;
  enum class part : std::uint8_t { before, data, after };

  FEEDLINE_HOST_DEVICE bool header(const png_chunk& chunk) {
    if (chunk.name != png_chunk::ihdr || chunk.bytes != 13) return false;
    const std::uint8_t* const at = file_ + chunk.at;
    out_.width = png_number(at);
    out_.height = png_number(at + 4);
    out_.depth = at[8];
    out_.colours = at[9];
    if (!is_image_side(out_.width) || !is_image_side(out_.height)) return false;
    return is_depth_known() && at[10] == 0 && at[11] == 0 && at[12] == 0;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_depth_known() const {
    const std::uint32_t depth = out_.depth;
    const bool is_whole = depth == 8 || depth == 16;
    const bool is_part = depth == 1 || depth == 2 || depth == 4;
    switch (out_.colours) {
      case png_frame::grey:
        return is_whole || is_part;
      case png_frame::palette:
        return depth == 8 || is_part;
      case png_frame::rgb:
      case png_frame::grey_alpha:
      case png_frame::rgb_alpha:
        return is_whole;
      default:
        return false;
    }
  }

  FEEDLINE_HOST_DEVICE bool take(const png_chunk& chunk) {
    if (chunk.name == png_chunk::idat) return data(chunk);
    if (at_ == part::data) at_ = part::after;
    return chunk.name == png_chunk::plte ? palette(chunk) : !chunk.is_critical();
  }
  FEEDLINE_HOST_DEVICE bool palette(const png_chunk& chunk) {
    const bool has_grey = out_.colours == png_frame::grey || out_.colours == png_frame::grey_alpha;
    const std::uint32_t most = out_.colours == png_frame::palette ? 1U << out_.depth : 256;
    if (at_ != part::before || has_grey || out_.palette_entries != 0) return false;
    if (chunk.bytes == 0 || chunk.bytes % 3 != 0 || chunk.bytes / 3 > most) return false;
    out_.palette_at = chunk.at;
    out_.palette_entries = chunk.bytes / 3;
    return true;
  }
  FEEDLINE_HOST_DEVICE bool data(const png_chunk& chunk) {
    if (at_ == part::after) return false;
    if (out_.colours == png_frame::palette && out_.palette_entries == 0) return false;
    at_ = part::data;
    for (std::uint32_t i = 0; i < chunk.bytes && out_.data_bytes + i < 2; ++i)
      zlib_ = zlib_ << 8U | file_[chunk.at + i];
    out_.data_bytes += chunk.bytes;
    return true;
  }
  /// Whether the zlib stream begins as it should, and no repetition can exceed its window.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_stream_known() const {
    constexpr std::uint32_t deflate = 8;
    constexpr std::uint32_t dictionary = 0x20;
    constexpr std::uint32_t most = 7;
    const std::uint32_t method = zlib_ >> 8U;
    if (out_.data_bytes < 6 || (method & 15U) != deflate || method >> 4U > most) return false;
    if (zlib_ % 31 != 0 || (zlib_ & dictionary) != 0) return false;
    if (out_.data_bytes > max_png_data_bytes(out_.filtered_bytes())) return false;
    return method >> 4U == most || out_.filtered_bytes() <= 256U << (method >> 4U);
  }

  const std::uint8_t* file_;
  std::uint32_t bytes_;
  png_frame& out_;
  part at_ = part::before;
  std::uint32_t zlib_ = 0;  ///< first two bytes of the stream
};

/// Works on host and device; reads nothing outside the file.
/// @return False if readers have to decode the file, or say what is wrong with it; `out` is then
/// meaningless. True does not say that checksums and data are right.
FEEDLINE_HOST_DEVICE inline bool read_png_frame(const std::uint8_t* file, std::size_t bytes,
                                                png_frame& out) noexcept {
  if (bytes > 0x7FFFFFFF) return false;
  return png_header{file, static_cast<std::uint32_t>(bytes), out}.read();
}

}  // namespace feedline::detail
