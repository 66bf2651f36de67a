#pragma once

#include "codecs/luma.hpp"
#include "codecs/png/frame.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Values that a file's samples become.
struct png_values {
  bool is_grey = false;   ///< one value a pixel, and not three
  bool is_wide = false;   ///< 16 bits a value, and not 8
  bool is_index = false;  ///< stored values: a palette's indices, or grey; one value of 8 bits
};

/// Red, green and blue of a pixel; or its only value, three times.
struct png_pixel {
  std::uint16_t of[3];
};

/// Makes pixels from a file's samples as readers do with libpng: grey is repeated, palettes are
/// looked up, 16 bits rounded to 8 where 8 are wanted, alpha dropped. Gamma and colour profiles are
/// ignored. Where grey is wanted, colours become luma.
class png_colours {
 public:
  FEEDLINE_HOST_DEVICE png_colours(const std::uint8_t* file, const png_frame& frame,
                                   const png_values& wanted = {})
      : palette_{file + frame.palette_at},
        entries_{frame.colours == png_frame::palette ? frame.palette_entries : 0},
        depth_{frame.depth},
        colours_{frame.colours},
        wanted_{wanted} {}

  [[nodiscard]] FEEDLINE_HOST_DEVICE const png_values& wanted() const { return wanted_; }
  /// Pixels of a unit.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t pixels() const {
    return depth_ < 8 ? 8 / depth_ : 1;
  }
  /// @param unit Bytes of a unit, the first is the lowest. @param number Index of the pixel in it.
  [[nodiscard]] FEEDLINE_HOST_DEVICE png_pixel pixel(std::uint64_t unit,
                                                     std::uint32_t number) const {
    if (colours_ == png_frame::rgb || colours_ == png_frame::rgb_alpha)
      return coloured(sample(unit, 0), sample(unit, 1), sample(unit, 2));
    if (depth_ >= 8 && colours_ != png_frame::palette) return repeated(sample(unit, 0));
    const std::uint32_t most = (1U << depth_) - 1;
    const std::uint32_t value =
        static_cast<std::uint32_t>(unit) >> (8 - depth_ * (number + 1)) & most;
    if (wanted_.is_index) return repeated(value);
    if (colours_ != png_frame::palette) return repeated(widened(value * (255 / most)));
    if (value >= entries_) return {};  // black, as libpng has it
    const std::uint8_t* const entry = palette_ + std::size_t{3} * value;
    return coloured(widened(entry[0]), widened(entry[1]), widened(entry[2]));
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE png_pixel coloured(std::uint32_t red, std::uint32_t green,
                                                        std::uint32_t blue) const {
    if (wanted_.is_grey) return repeated(luma_of(red, green, blue));
    return {{static_cast<std::uint16_t>(red), static_cast<std::uint16_t>(green),
             static_cast<std::uint16_t>(blue)}};
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static png_pixel repeated(std::uint32_t value) {
    const auto one = static_cast<std::uint16_t>(value);
    return {{one, one, one}};
  }
  /// @param value 8 bits.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t widened(std::uint32_t value) const {
    return wanted_.is_wide ? 257 * value : value;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t sample(std::uint64_t unit,
                                                          std::uint32_t number) const {
    if (depth_ == 8) return widened(static_cast<std::uint8_t>(unit >> 8 * number));
    const auto bytes = static_cast<std::uint32_t>(unit >> 16 * number);
    const std::uint32_t value = (bytes & 255U) << 8U | (bytes >> 8U & 255U);
    return wanted_.is_wide ? value : (value * 255U + 32895U) >> 16U;  // value / 257, rounded
  }

  const std::uint8_t* palette_;
  std::uint32_t entries_;
  std::uint32_t depth_;
  std::uint32_t colours_;
  png_values wanted_;
};

}  // namespace feedline::detail
