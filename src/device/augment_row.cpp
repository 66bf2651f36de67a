// Over 250 lines: one class computes a row, step after step, as the kernels do.

#include "device/augment_row.hpp"

#include "device/element_lines.hpp"
#include "device/resized_lines.hpp"
#include "device/window_points.hpp"
#include "transform/operations/operations.hpp"
#include "transform/operations/wide_pixels.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace feedline::detail {
namespace {

/// Reads single elements of an image.
struct element_loader {
  const field_conversion& by;
  const std::byte* row;
  line_reader<float> read;

  float operator()(std::uint32_t y, std::uint32_t x, std::uint32_t channel) const noexcept {
    const std::size_t pixel = std::size_t{y} * by.width + x;
    const std::size_t at = by.channels_last ? pixel * by.channels + channel
                                            : std::size_t{channel} * by.height * by.width + pixel;
    float value = 0.0F;
    read(row + at * size_bytes(by.from), 1, &value);
    return value;
  }
};

/// Lines of a cropped image, with zeros around it.
class cropped_lines {
 public:
  cropped_lines(const field_conversion& conversion, const image_window& window,
                const std::byte* row) noexcept
      : conversion_{conversion},
        window_{window},
        load_{conversion, row, line_reader_of<float>(conversion.from)} {}

  /// Like `resized_lines::make`.
  void make(std::uint32_t channel, std::uint32_t y, std::uint32_t x,
            std::span<float> line) const noexcept {
    const field_conversion& by = conversion_;
    const std::uint32_t from_y = window_.top + y - by.padding;  // wraps below 0
    for (float& value : line) {
      const std::uint32_t from_x = window_.left + x++ - by.padding;
      value = 0.0F;
      if (from_y >= by.height || from_x >= by.width) continue;
      value = load_(from_y, from_x, channel);
    }
  }

 private:
  const field_conversion& conversion_;
  image_window window_;
  element_loader load_;
};

/// The host's threads that make a sample: one.
struct lone_thread {
  static std::uint32_t rank() noexcept { return 0; }
  static std::uint32_t size() noexcept { return 1; }
  static void sync() noexcept {}
  template <class Number>
  static void add(Number& to, Number value) noexcept {
    to += value;
  }
};

/// Goes through an image by strips of its lines. A strip has three channels, or the rest.
class row_augmenter {
 public:
  row_augmenter(const field_conversion& conversion, const std::byte* row,
                std::uint32_t random_bits) noexcept
      : conversion_{conversion},
        by_{operations::of(conversion.operations)},
        channels_{conversion.to_channels()},
        random_bits_{random_bits},
        flipped_{is_flipped(conversion, random_bits)},
        write_{line_writer_of<float>(conversion.from, conversion.to)},
        image_{conversion.to_height, conversion.to_width},
        drawn_{operations::draw(by_, image_, random_bits)},
        part_{conversion.resizes ? source_window_of(conversion, random_bits) : image_part{}},
        crop_{conversion.resizes ? image_window{} : window_of(conversion, random_bits)},
        points_{conversion,
                crop_,
                part_,
                flipped_,
                conversion.channels,
                {conversion, row, line_reader_of<float>(conversion.from)}},
        resized_{lines_of(conversion, part_, row)},
        cropped_{conversion, crop_, row} {
    if (!conversion.operations.wide) operations::draw_steps(by_, image_, random_bits, steps_);
  }

  void augment(std::byte* out) noexcept {
    if (conversion_.operations.wide) return augment_wide(out);
    const color_steps& colors = steps_.colors;
    for (std::uint32_t step = colors.next_of_image(0); step < colors.count;
         step = colors.next_of_image(step + 1))
      look_at_image(step);
    for_each_strip([&](const pixel_place& at, std::size_t pixels, std::uint32_t channels) {
      if (conversion_.operations.any) channels = operate(at, pixels, channels);
      for (std::uint32_t c = 0; c < channels; ++c)
        write({strips_[c].data(), pixels}, at.first + c, at.y, at.x, out);
    });
  }

 private:
  /// Makes the image by wide steps, pixel by pixel.
  void augment_wide(std::byte* out) const noexcept {
    wide_memory memory;  // NOLINT: filled before it is read
    operations::draw_steps(by_, image_, random_bits_, memory.steps);
    const lone_thread team;
    wide_pixels pixels{team, points_, memory, image_, conversion_.channels};
    pixels.look();
    pixels.make({0, 0, image_.height, image_.width},
                [&](const pixel_place& at, color pixel, std::uint32_t channels) {
                  memory.steps.add_noise(at, image_.width, channels, pixel);
                  operations::apply(by_, drawn_, at, pixel, channels);
                  const std::uint32_t x = flipped_ ? image_.width - 1 - at.x : at.x;
                  for (std::uint32_t c = 0; c < channels; ++c)
                    write({&pixel.of[c], 1}, c, at.y, x, out);
                });
  }

  static std::array<resized_lines, 3> lines_of(const field_conversion& conversion,
                                               const image_part& window,
                                               const std::byte* row) noexcept {
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
            if (steps_.needs_points()) continue;
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

  /// A pixel after its moves and the colour steps before `end`.
  color stepped(const pixel_place& at, color pixel, std::uint32_t end,
                std::uint32_t& channels) const noexcept {
    if (steps_.needs_points())
      return sample_point(steps_, points_, image_, end, at.y, at.x, channels);
    steps_.colors.apply(0, end, pixel, channels);
    return pixel;
  }

  /// @return The number of channels after it.
  std::uint32_t operate(const pixel_place& of, std::size_t pixels,
                        std::uint32_t channels) noexcept {
    std::uint32_t after = channels;
    for_each_pixel(of, pixels, [&](const pixel_place& at, color& pixel) {
      after = channels;
      if (conversion_.operations.steps) {
        pixel = stepped(at, pixel, steps_.colors.count, after);
        steps_.add_noise(at, image_.width, after, pixel);
      }
      operations::apply(by_, drawn_, at, pixel, after);
    });
    return after;
  }

  /// Gives a step what it needs of the image as the steps before it leave it.
  void look_at_image(std::uint32_t step) noexcept {
    const color_step& by = steps_.colors.at[step];
    std::uint64_t shares = 0;
    std::array<std::uint32_t[256], 3> counts{};  // NOLINT: the type that kernels have
    std::uint32_t after = conversion_.channels;
    for_each_strip([&](const pixel_place& of, std::size_t pixels, std::uint32_t channels) {
      for_each_pixel(of, pixels, [&](const pixel_place& at, const color& pixel) {
        after = channels;
        const color seen = stepped(at, pixel, step, after);
        if (!by.needs_counts()) shares += grey_share(by, seen, after);
        for (std::uint32_t c = 0; by.needs_counts() && c < after; ++c)
          ++counts[c][byte_of(seen.of[c])];
      });
    });
    const std::uint32_t pixels = image_.height * image_.width;
    if (!by.needs_counts()) return steps_.colors.set_sum(step, shares, pixels);
    for (std::uint32_t c = 0; c < after; ++c) steps_.colors.set_table(step, c, counts[c], pixels);
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
  std::uint32_t random_bits_;
  bool flipped_;
  line_writer<float> write_;
  pixel_extents image_;
  operations::drawn drawn_;
  sample_steps steps_{};
  image_part part_;    ///< part of the image that is resized
  image_window crop_;  ///< else its window
  window_points<element_loader> points_;
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
