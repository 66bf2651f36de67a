#pragma once

#include "codecs/png/frame.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// Red, green and blue of a pixel.
struct png_pixel {
  std::uint8_t of[3];
};

/// Makes pixels from a file's samples as libpng does for readers: grey is repeated, palettes are
/// looked up, 16 bits rounded to 8, alpha dropped. Gamma and colour profiles are ignored.
class png_colours {
 public:
  FEEDLINE_HOST_DEVICE png_colours(const std::uint8_t* file, const png_frame& frame)
      : palette_{file + frame.palette_at},
        entries_{frame.colours == png_frame::palette ? frame.palette_entries : 0},
        depth_{frame.depth},
        colours_{frame.colours} {}

  /// Pixels of a unit.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t pixels() const {
    return depth_ < 8 ? 8 / depth_ : 1;
  }
  /// @param unit Bytes of a unit, the first is the lowest. @param number Index of the pixel in it.
  [[nodiscard]] FEEDLINE_HOST_DEVICE png_pixel pixel(std::uint64_t unit,
                                                     std::uint32_t number) const {
    if (colours_ == png_frame::rgb || colours_ == png_frame::rgb_alpha)
      return {{sample(unit, 0), sample(unit, 1), sample(unit, 2)}};
    if (depth_ >= 8 && colours_ != png_frame::palette) return repeated(sample(unit, 0));
    const std::uint32_t most = (1U << depth_) - 1;
    const std::uint32_t value =
        static_cast<std::uint32_t>(unit) >> (8 - depth_ * (number + 1)) & most;
    if (colours_ != png_frame::palette)
      return repeated(static_cast<std::uint8_t>(value * (255 / most)));
    if (value >= entries_) return {};  // black, as libpng has it
    const std::uint8_t* const entry = palette_ + std::size_t{3} * value;
    return {{entry[0], entry[1], entry[2]}};
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE static png_pixel repeated(std::uint8_t value) {
    return {{value, value, value}};
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint8_t sample(std::uint64_t unit,
                                                         std::uint32_t number) const {
    if (depth_ == 8) return static_cast<std::uint8_t>(unit >> 8 * number);
    const auto bytes = static_cast<std::uint32_t>(unit >> 16 * number);
    const std::uint32_t value = (bytes & 255U) << 8U | (bytes >> 8U & 255U);
    return static_cast<std::uint8_t>((value * 255U + 32895U) >> 16U);  // value / 257, rounded
  }

  const std::uint8_t* palette_;
  std::uint32_t entries_;
  std::uint32_t depth_;
  std::uint32_t colours_;
};

}  // namespace feedline::detail
