#pragma once

#include "codecs/jpeg/marker.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Facts that a decoder needs about a JPEG file. The file is baseline with 8 bits a sample, its one
/// scan holds all components, and it is grey, or YCbCr at 4:4:4, 4:2:2, 4:2:0, 4:4:0 or 4:1:1.
struct jpeg_frame {
  /// Numbers of the tables that a component uses.
  struct component_tables {
    std::uint8_t quantization;  ///< 0 to 3
    std::uint8_t dc;            ///< 0 or 1; `ac` too
    std::uint8_t ac;
  };

  std::uint16_t height;
  std::uint16_t width;
  std::uint16_t restart_interval;  ///< MCUs between restart markers; 0: there are none
  std::uint8_t components;         ///< 1: grey; 3: YCbCr
  std::uint8_t luma_across;        ///< blocks of luma in an MCU, 1, 2 or 4; chroma has one each
  std::uint8_t luma_down;
  component_tables tables[3];
  /// Offsets in the file of the Huffman tables, DC 0, DC 1, AC 0, AC 1: the 16 counts of their
  /// codes by length, followed by the symbols. 0: not defined.
  std::uint32_t huffman[4];
  /// Offsets in the file of the quantization tables: 64 bytes each, in zigzag order. 0: not
  /// defined.
  std::uint32_t quantization[4];
  std::uint32_t scan;    ///< offset in the file at which the scan's data begins
  bool has_stray_bytes;  ///< whether bytes before it belong to no marker

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t luma_blocks() const {
    return std::uint32_t{luma_across} * luma_down;
  }
  /// Blocks of an MCU.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t blocks() const {
    return luma_blocks() + components - 1U;
  }
  /// @param unit A block of an MCU.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t component(std::uint32_t unit) const {
    return unit < luma_blocks() ? 0 : unit - luma_blocks() + 1;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t mcus_across() const {
    return mcus_along(width, luma_across);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t mcus() const {
    return mcus_across() * mcus_along(height, luma_down);
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t mcus_along(std::uint32_t side,
                                                                     std::uint32_t blocks) {
    return (side + 8 * blocks - 1) / (8 * blocks);
  }
};

/// Reads a file's markers up to its scan. Refuses every file that decoders might decode
/// differently.
class jpeg_header {
 public:
  FEEDLINE_HOST_DEVICE jpeg_header(const std::uint8_t* file, std::uint32_t bytes, jpeg_frame& out)
      : file_{file}, bytes_{bytes}, out_{out} {}

  FEEDLINE_HOST_DEVICE bool read() {
    out_ = {};
    if (bytes_ < 2 || file_[0] != 0xFF || file_[1] != 0xD8) return false;
    at_ = 2;
    for (;;) {
      const std::uint32_t marker = next_marker();
      if (marker == 0 || !begin_segment()) return false;
      if (marker == 0xDA) return scan();
      if (!segment(marker)) return false;
      at_ = end_;
    }
  }

 private:
  /// @return The marker; 0 if there is none.
  FEEDLINE_HOST_DEVICE std::uint32_t next_marker() {
    const sought_jpeg_marker next = seek_jpeg_marker(file_, bytes_, at_);
    if (next.has_stray_bytes) out_.has_stray_bytes = true;
    return next.marker;
  }
  FEEDLINE_HOST_DEVICE bool begin_segment() {
    if (bytes_ - at_ < 2) return false;
    const std::uint32_t length = number(at_);
    if (length < 2 || length > bytes_ - at_) return false;
    end_ = at_ + length;
    at_ += 2;
    return true;
  }
  FEEDLINE_HOST_DEVICE bool segment(std::uint32_t marker) {
    switch (marker) {
      case 0xC0:
        return baseline_frame();
      case 0xC4:
        return huffman_tables();
      case 0xDB:
        return quantization_tables();
      case 0xDD:
        if (left() != 2) return false;
        out_.restart_interval = number(at_);
        return true;
      case 0xEE:
        return adobe();
      default:
        return (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE;
    }
  }

  FEEDLINE_HOST_DEVICE bool baseline_frame() {
    if (out_.components != 0 || left() < 6 || file_[at_] != 8) return false;
    out_.height = number(at_ + 1);
    out_.width = number(at_ + 3);
    out_.components = file_[at_ + 5];
    constexpr std::uint32_t longest_side = 65500;  // libjpeg's limit
    if (out_.height == 0 || out_.height > longest_side) return false;
    if (out_.width == 0 || out_.width > longest_side) return false;
    if (out_.components != 1 && out_.components != 3) return false;
    if (left() != 6 + 3U * out_.components) return false;
    at_ += 6;
    for (std::uint32_t i = 0; i < out_.components; ++i, at_ += 3) {
      ids_[i] = file_[at_];
      out_.tables[i].quantization = file_[at_ + 2];
      if (out_.tables[i].quantization > 3) return false;
      const std::uint32_t factors = file_[at_ + 1];
      if (i == 0) {
        out_.luma_across = static_cast<std::uint8_t>(factors >> 4U);
        out_.luma_down = static_cast<std::uint8_t>(factors & 15U);
      } else if (factors != 0x11) {
        return false;
      }
    }
    if (!is_sampling_known()) return false;
    if (out_.components == 1) return true;
    if (ids_[0] == ids_[1] || ids_[0] == ids_[2] || ids_[1] == ids_[2]) return false;
    return ids_[0] != 'R' || ids_[1] != 'G' || ids_[2] != 'B';
  }

  FEEDLINE_HOST_DEVICE bool is_sampling_known() {
    const std::uint32_t across = out_.luma_across;
    const std::uint32_t down = out_.luma_down;
    if (across == 0 || across > 4 || down == 0 || down > 4) return false;
    if (out_.components == 1) {  // an MCU of one component is one block
      out_.luma_across = out_.luma_down = 1;
      return true;
    }
    return across <= 2 ? down <= 2 : across == 4 && down == 1;
  }

  FEEDLINE_HOST_DEVICE bool huffman_tables() {
    while (left() != 0) {
      const std::uint32_t which = file_[at_++];
      const bool is_ac = which >> 4U == 1;
      if ((which & ~0x11U) != 0 || left() < 16) return false;
      std::uint32_t symbols = 0;
      std::uint32_t code = 0;
      for (std::uint32_t length = 1; length <= 16; ++length) {
        const std::uint32_t count = file_[at_ + length - 1];
        symbols += count;
        code = 2 * code + count;
        if (count != 0 && code >= 1U << length) return false;  // no code may be all ones
      }
      if (symbols == 0 || symbols > 256 || left() - 16 < symbols) return false;
      for (std::uint32_t i = 0; i < symbols; ++i)
        if (!is_symbol(file_[at_ + 16 + i], is_ac)) return false;
      out_.huffman[(is_ac ? 2U : 0U) + (which & 1U)] = at_;
      at_ += 16 + symbols;
    }
    return true;
  }
  FEEDLINE_HOST_DEVICE static bool is_symbol(std::uint32_t symbol, bool is_ac) {
    if (!is_ac) return symbol <= 11;
    const std::uint32_t size = symbol & 15U;
    return size == 0 ? symbol == 0 || symbol == 0xF0 : size <= 10;
  }

  FEEDLINE_HOST_DEVICE bool quantization_tables() {
    constexpr std::uint32_t values = 64;
    while (left() != 0) {
      const std::uint32_t which = file_[at_++];
      if (which > 3 || left() < values) return false;
      for (std::uint32_t i = 0; i < values; ++i)
        if (file_[at_ + i] == 0) return false;
      out_.quantization[which] = at_;
      at_ += values;
    }
    return true;
  }

  /// Adobe's marker gives the color space. JFIF has only YCbCr.
  FEEDLINE_HOST_DEVICE bool adobe() {
    const bool is_adobe = left() >= 12 && file_[at_] == 'A' && file_[at_ + 1] == 'd' &&
                          file_[at_ + 2] == 'o' && file_[at_ + 3] == 'b' && file_[at_ + 4] == 'e';
    if (is_adobe && file_[at_ + 11] != 1) is_other_colour_ = true;
    return true;
  }

  FEEDLINE_HOST_DEVICE bool scan() {
    const std::uint32_t components = out_.components;
    if (components == 0 || left() != 4 + 2 * components || file_[at_++] != components) return false;
    if (components == 3 && is_other_colour_) return false;
    for (std::uint32_t i = 0; i < components; ++i, at_ += 2) {
      jpeg_frame::component_tables& tables = out_.tables[i];
      const std::uint32_t numbers = file_[at_ + 1];
      if (file_[at_] != ids_[i] || (numbers & ~0x11U) != 0) return false;
      tables.dc = static_cast<std::uint8_t>(numbers >> 4U);
      tables.ac = static_cast<std::uint8_t>(numbers & 15U);
      if (out_.huffman[tables.dc] == 0 || out_.huffman[2 + tables.ac] == 0) return false;
      if (out_.quantization[tables.quantization] == 0) return false;
    }
    out_.scan = end_;
    return file_[at_] == 0 && file_[at_ + 1] == 63 && file_[at_ + 2] == 0;
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint16_t number(std::uint32_t at) const {
    return static_cast<std::uint16_t>(std::uint32_t{file_[at]} << 8U | file_[at + 1]);
  }
  /// Unread bytes of the segment.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t left() const { return end_ - at_; }

  const std::uint8_t* file_;
  std::uint32_t bytes_;
  jpeg_frame& out_;
  std::uint32_t at_ = 0;
  std::uint32_t end_ = 0;         ///< end of the segment
  std::uint8_t ids_[3] = {};      ///< ids of the components
  bool is_other_colour_ = false;  ///< Adobe's marker names a color space other than YCbCr
};

/// Works on host and device; reads nothing outside the file.
/// @return False if the file is of another kind, or its header is damaged; `out` is then
/// meaningless. True says that the scan begins, not that it is complete (scan.hpp).
FEEDLINE_HOST_DEVICE inline bool read_jpeg_frame(const std::uint8_t* file, std::size_t bytes,
                                                 jpeg_frame& out) noexcept {
  if (bytes > 0x7FFFFFFF) return false;
  return jpeg_header{file, static_cast<std::uint32_t>(bytes), out}.read();
}

}  // namespace feedline::detail
