#include "device/augment_row.hpp"

#include "device/element_lines.hpp"
#include "device/resized_lines.hpp"
#include "transform/operations/operations.hpp"

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

/// Goes through an image by strips of its lines. A strip has three channels, or the rest.
class row_augmenter {
 public:
  row_augmenter(const field_conversion& conversion, const std::byte* row,
                std::uint32_t random_bits) noexcept
      : conversion_{conversion},
        by_{operations::of(conversion.operations)},
        channels_{conversion.to_channels()},
        flipped_{is_flipped(conversion, random_bits)},
        write_{line_writer_of<float>(conversion.from, conversion.to)},
        drawn_{operations::draw(by_, {conversion.to_height, conversion.to_width}, random_bits)},
        resized_{lines_of(conversion, random_bits, row)},
        cropped_{conversion, random_bits, row} {}

  void augment(std::byte* out) noexcept {
    if (conversion_.operations.needs_sum) sum_over_image();
    for_each_strip([&](const pixel_place& at, std::size_t pixels, std::uint32_t channels) {
      if (conversion_.operations.any) channels = operate(at, pixels, channels);
      for (std::uint32_t c = 0; c < channels; ++c)
        write({strips_[c].data(), pixels}, at.first + c, at.y, at.x, out);
    });
  }

 private:
  static std::array<resized_lines, 3> lines_of(const field_conversion& conversion,
                                               std::uint32_t random_bits,
                                               const std::byte* row) noexcept {
    const image_part window =
        conversion.resizes ? source_window_of(conversion, random_bits) : image_part{};
    return {resized_lines{conversion, window, row}, resized_lines{conversion, window, row},
            resized_lines{conversion, window, row}};
  }

  /// Calls `visit(at, pixels, channels)` each time `strips_` hold that many pixels, beginning with
  /// `at`, whose x is the column before the flip.
  template <class Visit>
  void for_each_strip(const Visit& visit) noexcept {
    for (std::uint32_t first = 0; first < conversion_.channels; first += 3)
      for (std::uint32_t x = 0; x < conversion_.to_width; x += strip_pixels)
        for (std::uint32_t y = 0; y < conversion_.to_height; ++y) {
          const std::size_t pixels = std::min(strip_pixels, conversion_.to_width - x);
          const std::uint32_t channels = std::min(conversion_.channels - first, 3U);
          for (std::uint32_t c = 0; c < channels; ++c) {
            const std::span line{strips_[c].data(), pixels};
            if (conversion_.resizes) {
              resized_[c].make(first + c, y, x, line);
            } else {
              cropped_.make(first + c, y, x, line);
            }
          }
          visit(pixel_place{y, x, first}, pixels, channels);
        }
  }

  /// Calls `visit(at, color)` for each pixel of a strip; the x of `at` is the batch's column.
  template <class Visit>
  void for_each_pixel(pixel_place at, std::size_t pixels, const Visit& visit) noexcept {
    const std::uint32_t x = at.x;
    for (std::uint32_t i = 0; i < pixels; ++i) {
      at.x = flipped_ ? conversion_.to_width - 1 - (x + i) : x + i;
      color pixel{{strips_[0][i], strips_[1][i], strips_[2][i]}};
      visit(at, pixel);
      for (std::uint32_t c = 0; c < 3; ++c) strips_[c][i] = pixel.of[c];
    }
  }

  /// @return The number of channels after it.
  std::uint32_t operate(const pixel_place& of, std::size_t pixels,
                        std::uint32_t channels) noexcept {
    std::uint32_t after = channels;
    for_each_pixel(of, pixels, [&](const pixel_place& at, color& pixel) {
      after = channels;
      operations::apply(by_, drawn_, at, pixel, after);
    });
    return after;
  }

  void sum_over_image() noexcept {
    std::uint64_t sum = 0;
    for_each_strip([&](const pixel_place& of, std::size_t pixels, std::uint32_t channels) {
      for_each_pixel(of, pixels, [&](const pixel_place& at, const color& pixel) {
        sum += operations::share(by_, drawn_, at, pixel, channels);
      });
    });
    operations::set_sum(drawn_, sum, conversion_.to_height * conversion_.to_width);
  }

  void write(std::span<const float> line, std::uint32_t channel, std::uint32_t y, std::uint32_t x,
             std::byte* out) const noexcept {
    const std::size_t width = conversion_.to_width;
    const std::size_t channels = channels_;
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
  const operations::parameters& by_;  ///< all disabled if there is no operation
  std::uint32_t channels_;            ///< the batch's number of channels
  bool flipped_;
  line_writer<float> write_;
  operations::drawn drawn_;
  std::array<resized_lines, 3> resized_;  ///< one for each channel of a strip
  cropped_lines cropped_;
  std::array<std::array<float, strip_pixels>, 3> strips_{};
};

}  // namespace

void augment_row(const field_conversion& conversion, const std::byte* row,
                 std::uint32_t random_bits, std::byte* out) noexcept {
  row_augmenter{conversion, row, random_bits}.augment(out);
}

}  // namespace feedline::detail
