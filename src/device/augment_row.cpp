#include "device/augment_row.hpp"

#include "device/augmentation_draws.hpp"
#include "device/element_lines.hpp"
#include "device/resized_lines.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace feedline::detail {
namespace {

/// Lines of a cropped image, with zeros around it.
class cropped_lines {
 public:
  cropped_lines(const field_conversion& conversion, std::uint32_t random_bits,
                const std::byte* row) noexcept
      : conversion_{conversion},
        window_{window_of(conversion, random_bits)},
        row_{row},
        read_{line_reader_of<float>(conversion.from)} {}

  /// Like `resized_lines::make`.
  void make(std::uint32_t channel, std::uint32_t y, std::uint32_t x,
            std::span<float> line) const noexcept {
    const field_conversion& by = conversion_;
    const std::uint32_t from_y = window_.top + y - by.padding;  // wraps below 0
    for (float& value : line) {
      const std::uint32_t from_x = window_.left + x++ - by.padding;
      value = 0.0F;
      if (from_y >= by.height || from_x >= by.width) continue;
      const std::size_t pixel = std::size_t{from_y} * by.width + from_x;
      const std::size_t at = by.channels_last ? pixel * by.channels + channel
                                              : std::size_t{channel} * by.height * by.width + pixel;
      read_(row_ + at * size_bytes(by.from), 1, &value);
    }
  }

 private:
  const field_conversion& conversion_;
  image_window window_;
  const std::byte* row_;
  line_reader<float> read_;
};

/// Goes through an image by strips of its lines. A strip has one channel or, if colors change, all
/// channels.
class row_augmenter {
 public:
  row_augmenter(const field_conversion& conversion, const std::byte* row,
                std::uint32_t random_bits) noexcept
      : conversion_{conversion},
        flipped_{is_flipped(conversion, random_bits)},
        together_{conversion.augmentation.jitters ? conversion.channels : 1},
        write_{line_writer_of<float>(conversion.from, conversion.to)},
        factors_{color_factors_of(conversion.augmentation, random_bits)},
        erased_{erased_part_of(conversion, random_bits)},
        resized_{lines_of(conversion, random_bits, row)},
        cropped_{conversion, random_bits, row} {}

  void augment(std::byte* out) noexcept {
    const image_augmentation& augmentation = conversion_.augmentation;
    const float mean = augmentation.needs_mean() ? mean_of_image() : 0.0F;
    for_each_strip(
        [&](std::uint32_t channel, std::uint32_t y, std::uint32_t x, std::size_t pixels) {
          if (augmentation.jitters) {
            for (std::size_t i = 0; i < pixels; ++i) {
              color pixel = pixel_at(i);
              jitter(pixel, factors_, mean, together_);
              for (std::uint32_t c = 0; c < together_; ++c) strips_[c][i] = pixel.of[c];
            }
          }
          for (std::uint32_t i = 0; i < together_; ++i) {
            const std::span line{strips_[i].data(), pixels};
            erase(line, channel + i, y, x);
            write(line, channel + i, y, x, out);
          }
        });
  }

 private:
  static std::array<resized_lines, 3> lines_of(const field_conversion& conversion,
                                               std::uint32_t random_bits,
                                               const std::byte* row) noexcept {
    const image_part window = source_window_of(conversion, random_bits);
    return {resized_lines{conversion, window, row}, resized_lines{conversion, window, row},
            resized_lines{conversion, window, row}};
  }

  /// Calls `visit(channel, y, x, pixels)` each time `strips_` hold that many pixels from x on, of
  /// `together_` channels.
  template <class Visit>
  void for_each_strip(const Visit& visit) noexcept {
    for (std::uint32_t channel = 0; channel < conversion_.channels; channel += together_)
      for (std::uint32_t x = 0; x < conversion_.to_width; x += strip_pixels)
        for (std::uint32_t y = 0; y < conversion_.to_height; ++y) {
          const std::size_t pixels = std::min(strip_pixels, conversion_.to_width - x);
          for (std::uint32_t i = 0; i < together_; ++i) {
            const std::span line{strips_[i].data(), pixels};
            if (conversion_.augmentation.resizes) {
              resized_[i].make(channel + i, y, x, line);
            } else {
              cropped_.make(channel + i, y, x, line);
            }
          }
          visit(channel, y, x, pixels);
        }
  }

  color pixel_at(std::size_t i) const noexcept {
    color pixel{};
    for (std::uint32_t c = 0; c < together_; ++c) pixel.of[c] = strips_[c][i];
    return pixel;
  }

  float mean_of_image() noexcept {
    std::uint64_t shares = 0;
    for_each_strip([&](std::uint32_t, std::uint32_t, std::uint32_t, std::size_t pixels) {
      for (std::size_t i = 0; i < pixels; ++i)
        shares += grey_share(pixel_at(i), factors_, together_);
    });
    return mean_grey(shares, conversion_.to_height * conversion_.to_width);
  }

  std::uint32_t flipped_x(std::uint32_t x) const noexcept {
    return flipped_ ? conversion_.to_width - 1 - x : x;
  }

  /// @param x Column before the flip; the erased part is relative to the flipped image.
  void erase(std::span<float> line, std::uint32_t channel, std::uint32_t y,
             std::uint32_t x) const noexcept {
    if (y - erased_.top >= erased_.height) return;
    const float value = erase_value_of(conversion_.augmentation, channel);
    for (float& each : line)
      if (is_in_part(erased_, y, flipped_x(x++))) each = value;
  }

  void write(std::span<const float> line, std::uint32_t channel, std::uint32_t y, std::uint32_t x,
             std::byte* out) const noexcept {
    const std::size_t width = conversion_.to_width;
    const std::size_t channels = conversion_.channels;
    const std::size_t to_x = flipped_ ? width - x - line.size() : x;
    const std::size_t at = conversion_.to_channels_last
                               ? (y * width + to_x) * channels + channel
                               : (std::size_t{channel} * conversion_.to_height + y) * width + to_x;
    const std::size_t of = conversion_.per_channel ? channel : 0;
    write_(flipped_ ? &line.back() : line.data(), flipped_ ? -1 : 1,
           out + at * size_bytes(conversion_.to),
           conversion_.to_channels_last ? static_cast<std::ptrdiff_t>(channels) : 1,
           static_cast<std::ptrdiff_t>(line.size()),
           {conversion_.scale[of], conversion_.offset[of]});
  }

  const field_conversion& conversion_;
  bool flipped_;
  std::uint32_t together_;  ///< channels in a strip, at most 3
  line_writer<float> write_;
  color_factors factors_;
  image_part erased_;
  std::array<resized_lines, 3> resized_;  ///< one for each channel of a strip
  cropped_lines cropped_;
  std::array<std::array<float, strip_pixels>, 3> strips_;
};

}  // namespace

void augment_row(const field_conversion& conversion, const std::byte* row,
                 std::uint32_t random_bits, std::byte* out) noexcept {
  row_augmenter{conversion, row, random_bits}.augment(out);
}

}  // namespace feedline::detail
