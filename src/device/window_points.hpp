#pragma once

#include "device/resize_taps.hpp"
#include "device/sample_random_bits.hpp"
#include "device/source_window.hpp"

#include <cstdint>

namespace feedline::detail {

/// Single pixels of a sample's window, at any position of the batch's image: resized or cropped,
/// and flipped.
/// @tparam Load Returns the element of the dataset's image at (y, x) of a channel.
template <class Load>
class window_points {
 public:
  /// @param channels 1 to 3. @param load Copied.
  FEEDLINE_HOST_DEVICE window_points(const row_conversion& conversion, const image_window& crop,
                                     const image_part& resized, bool flipped,
                                     std::uint32_t channels, const Load& load) noexcept
      : by_{conversion},
        crop_{crop},
        resized_{resized},
        flipped_{flipped},
        channels_{channels},
        load_{load} {}

  [[nodiscard]] FEEDLINE_HOST_DEVICE color operator()(std::uint32_t y,
                                                      std::uint32_t x) const noexcept {
    const std::uint32_t column = flipped_ ? by_.to_width - 1 - x : x;
    if (by_.resizes) {
      const auto load = [&](std::uint32_t line, std::uint32_t element, std::uint32_t channel) {
        return load_(resized_.top + line, resized_.left + element, channel);
      };
      return resized_color(taps_of(y, resized_.height, by_.to_height),
                           taps_of(column, resized_.width, by_.to_width), channels_, load);
    }
    const std::uint32_t from_y = crop_.top + y - by_.padding;  // wraps below 0
    const std::uint32_t from_x = crop_.left + column - by_.padding;
    color pixel{};
    if (from_y < by_.height && from_x < by_.width)
      for (std::uint32_t c = 0; c < 3; ++c)
        if (c < channels_) pixel.of[c] = load_(from_y, from_x, c);
    return pixel;
  }

 private:
  const row_conversion& by_;
  const image_window& crop_;
  const image_part& resized_;
  bool flipped_;
  std::uint32_t channels_;
  Load load_;
};

}  // namespace feedline::detail
