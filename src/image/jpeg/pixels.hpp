#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/coefficients.hpp"
#include "image/jpeg/frame.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Makes pixels of an image's decoded samples, to the bit as libjpeg does: chroma of half the size
/// is interpolated between its samples ("fancy upsampling"), and YCbCr becomes RGB by factors of 16
/// bits. Samples lie where their blocks' coefficients lay, in the first half of each.
class jpeg_pixels {
 public:
  /// Bytes between the samples of two blocks.
  static constexpr std::size_t block_stride = jpeg_block_samples * sizeof(std::int16_t);

  /// @param samples Of all blocks, in the order of the scan. @param frame Of three components.
  FEEDLINE_HOST_DEVICE jpeg_pixels(const std::uint8_t* samples, const jpeg_frame& frame)
      : samples_{samples},
        halves_width_{frame.luma_across - 1U},
        halves_height_{frame.luma_down - 1U},
        blocks_{frame.blocks()},
        mcus_across_{frame.mcus_across()},
        chroma_width_{(frame.width + halves_width_) >> halves_width_},
        chroma_height_{(frame.height + halves_height_) >> halves_height_} {}

  /// @param y, x Within the image. @param rgb Three bytes.
  FEEDLINE_HOST_DEVICE void read(std::uint32_t y, std::uint32_t x, std::uint8_t* rgb) const {
    const std::int32_t light = luma(y, x);
    const std::int32_t blue = chroma(1, y, x) - 128;
    const std::int32_t red = chroma(2, y, x) - 128;
    constexpr std::int32_t half = 1 << 15;
    rgb[0] = clamped(light + ((red * 91881 + half) >> 16));
    rgb[1] = clamped(light + ((blue * -22554 + red * -46802 + half) >> 16));
    rgb[2] = clamped(light + ((blue * 116130 + half) >> 16));
  }

 private:
  FEEDLINE_HOST_DEVICE static std::uint8_t clamped(std::int32_t value) {
    return static_cast<std::uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t sample(std::uint32_t block, std::uint32_t y,
                                                         std::uint32_t x) const {
    const std::uint32_t at = y % 8 * 8 + x % 8;
    return samples_[block * block_stride + at];
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t luma(std::uint32_t y, std::uint32_t x) const {
    const std::uint32_t row = y / 8;
    const std::uint32_t column = x / 8;
    const std::uint32_t mcu = (row >> halves_height_) * mcus_across_ + (column >> halves_width_);
    const std::uint32_t block =
        ((row & halves_height_) << halves_width_) + (column & halves_width_);
    return sample(mcu * blocks_ + block, y, x);
  }
  /// A sample of a chroma component. @param y, x In its own size.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t chroma_sample(std::uint32_t component,
                                                                std::uint32_t y,
                                                                std::uint32_t x) const {
    const std::uint32_t mcu = y / 8 * mcus_across_ + x / 8;
    return sample((mcu + 1) * blocks_ - 3 + component, y, x);
  }
  /// Chroma of a pixel. Along each halved axis the sample that it lies in counts three times, and
  /// its nearest other sample once.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t chroma(std::uint32_t component, std::uint32_t y,
                                                         std::uint32_t x) const {
    constexpr std::uint32_t widest_repeated = 2;
    const std::uint32_t row = y >> halves_height_;
    const std::uint32_t column = x >> halves_width_;
    const bool is_repeated = halves_width_ != 0 && chroma_width_ <= widest_repeated;
    if (is_repeated || halves_width_ + halves_height_ == 0)
      return chroma_sample(component, row, column);
    const std::uint32_t row2 = next(y, row, chroma_height_);
    const std::uint32_t column2 = next(x, column, chroma_width_);
    const auto two_rows = [&](std::uint32_t at) {
      return 3 * chroma_sample(component, row, at) + chroma_sample(component, row2, at);
    };
    if (halves_width_ == 0) return (two_rows(column) + (y % 2 == 0 ? 1 : 2)) >> 2;
    if (halves_height_ == 0)
      return (3 * chroma_sample(component, row, column) + chroma_sample(component, row, column2) +
              (x % 2 == 0 ? 1 : 2)) >>
             2;
    return (3 * two_rows(column) + two_rows(column2) + (x % 2 == 0 ? 8 : 7)) >> 4;
  }
  /// A pixel's nearest other sample along an axis; at an edge the same sample again.
  /// @param at The sample that it lies in. @param count Samples of the axis.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t next(std::uint32_t pixel,
                                                               std::uint32_t at,
                                                               std::uint32_t count) {
    if (pixel % 2 == 0) return at == 0 ? 0 : at - 1;
    return at + 1 == count ? at : at + 1;
  }

  const std::uint8_t* samples_;
  std::uint32_t halves_width_;  ///< of chroma: 1, else 0
  std::uint32_t halves_height_;
  std::uint32_t blocks_;
  std::uint32_t mcus_across_;
  std::uint32_t chroma_width_;
  std::uint32_t chroma_height_;
};

}  // namespace feedline::detail
