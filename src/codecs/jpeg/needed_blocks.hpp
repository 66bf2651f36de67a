#pragma once

#include "codecs/jpeg/frame.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// A rectangle of an image's MCUs. Counted in MCUs.
struct jpeg_mcu_window {
  std::uint32_t top;
  std::uint32_t left;
  std::uint32_t height;
  std::uint32_t width;
};

/// The MCUs that a window of pixels needs: those with its pixels, and those with chroma that is
/// interpolated into them, which is at most two pixels away.
/// @param top, left, height, width The window, within the image; not empty.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline jpeg_mcu_window needed_jpeg_mcus(const jpeg_frame& frame,
                                                                           std::uint32_t top,
                                                                           std::uint32_t left,
                                                                           std::uint32_t height,
                                                                           std::uint32_t width) {
  constexpr std::uint32_t reach = 2;
  const auto begin = [](std::uint32_t pixel, std::uint32_t blocks) {
    return (pixel < reach ? 0 : pixel - reach) / (8 * blocks);
  };
  const auto end = [](std::uint32_t pixel, std::uint32_t side, std::uint32_t blocks) {
    const std::uint32_t last = (pixel + reach < side ? pixel + reach : side) - 1;
    return last / (8 * blocks) + 1;
  };
  jpeg_mcu_window window{begin(top, frame.luma_down), begin(left, frame.luma_across), 0, 0};
  window.height = end(top + height, frame.height, frame.luma_down) - window.top;
  window.width = end(left + width, frame.width, frame.luma_across) - window.left;
  return window;
}

/// Steps through the blocks of a window of MCUs, in the order of the scan, with a fixed distance.
class jpeg_block_steps {
 public:
  /// @param first The first block, counted among those of the window. @param apart The distance.
  FEEDLINE_HOST_DEVICE jpeg_block_steps(const jpeg_frame& frame, const jpeg_mcu_window& window,
                                        std::uint32_t first, std::uint32_t apart)
      : window_{window},
        across_{frame.mcus_across()},
        blocks_{frame.blocks()},
        unit_{first % blocks_},
        column_{first / blocks_ % window.width},
        row_{first / blocks_ / window.width},
        unit_step_{apart % blocks_},
        column_step_{apart / blocks_ % window.width},
        row_step_{apart / blocks_ / window.width} {}

  /// Number of blocks of the window.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t count() const {
    return window_.height * window_.width * blocks_;
  }
  /// Index among the blocks of the scan. After the window's last block it has no meaning.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t block() const {
    return ((window_.top + row_) * across_ + window_.left + column_) * blocks_ + unit_;
  }
  /// Index in the MCU.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t unit() const { return unit_; }

  FEEDLINE_HOST_DEVICE void next() {
    unit_ += unit_step_;
    column_ += column_step_;
    row_ += row_step_;
    if (unit_ >= blocks_) {
      unit_ -= blocks_;
      ++column_;
    }
    if (column_ >= window_.width) {
      column_ -= window_.width;
      ++row_;
    }
  }

 private:
  jpeg_mcu_window window_;
  std::uint32_t across_;
  std::uint32_t blocks_;
  std::uint32_t unit_;
  std::uint32_t column_;
  std::uint32_t row_;
  std::uint32_t unit_step_;
  std::uint32_t column_step_;
  std::uint32_t row_step_;
};

}  // namespace feedline::detail
