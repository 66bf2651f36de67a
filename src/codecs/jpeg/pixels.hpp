// Over 250 lines: one class, one function for each step from coefficients to pixels.

#pragma once

#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "detail/host_device.hpp"
#include "detail/packed_bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Bytes of a row of one channel of decoded pixels: a whole number of sectors of a GPU's memory.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t jpeg_row_bytes(
    std::uint32_t width) noexcept {
  return (width + 31) / 32 * 32;
}

/// The chroma of a tile of an image: rows of both components. Along a halved axis there is one more
/// sample at either end; at the image's edge it repeats the last one.
struct jpeg_chroma_tile {
  static constexpr std::uint32_t height = 32;  ///< in pixels
  static constexpr std::uint32_t width = 128;
  /// Bytes before and after a row's own samples.
  static constexpr std::uint32_t margin = 8;

  alignas(8) std::uint8_t samples[2][height][margin + width + margin];
};

/// Makes pixels from an image's decoded samples, bit for bit like libjpeg: chroma of half the size
/// is interpolated between its samples ("fancy upsampling"), and YCbCr is converted to RGB with
/// 16-bit factors. The samples of a block replace its coefficients, in the first half of their
/// memory.
///
/// Pixels are stored row after row. A row has first the red, then the green, then the blue values,
/// each `jpeg_row_bytes` long; the number of pixels rounded up to a multiple of 8 is written. If
/// grey is wanted, only luma is written, where red would be: no chroma is read.
class jpeg_pixels {
 public:
  /// Bytes between the samples of two blocks.
  static constexpr std::size_t block_stride = jpeg_block_samples * sizeof(std::int16_t);
  /// Side, in pixels, of the square that is made at once.
  static constexpr std::uint32_t square = 4;

  /// @param samples Samples of all blocks, in the order of the scan; aligned to 8.
  FEEDLINE_HOST_DEVICE jpeg_pixels(const std::uint8_t* samples, const jpeg_frame& frame,
                                   bool wants_grey = false)
      : samples_{samples},
        height_{frame.height},
        width_{frame.width},
        is_grey_{frame.components == 1 || wants_grey},
        grey_channels_{wants_grey ? 1U : 3U},
        luma_across_{frame.luma_across},
        width_shift_{frame.luma_across / 2U},
        halves_height_{frame.luma_down - 1U},
        halves_width_{frame.luma_across == 2 ? 1U : 0U},
        blocks_{frame.blocks()},
        mcus_across_{frame.mcus_across()},
        chroma_height_{(height_ + halves_height_) >> halves_height_},
        chroma_width_{(width_ + frame.luma_across - 1U) >> width_shift_} {
    if (width_shift_ == 2) step_ = 0;  // a sample is that of four pixels
    constexpr std::uint32_t widest_repeated = 2;
    if (halves_width_ != 0 && chroma_width_ <= widest_repeated) return;
    const std::uint32_t halved = halves_width_ + halves_height_;
    if (halved == 0) return;
    shift_ = 2 * halved;
    if (halved == 2) {
      weights_ = 0x01030309;
      half_ = 8;
      half_at_odd_x_ = 7;
    } else {
      weights_ = halves_width_ != 0 ? 0x00000103 : 0x00010003;
      half_ = 1;
      half_at_odd_x_ = half_ + halves_width_;
      half_at_odd_y_ = halves_height_;
    }
  }

  /// Fills a tile's chroma. The threads share the work; all must have finished before pixels are
  /// made.
  /// @param top, left Position of the tile in the image: multiples of its sides.
  /// @param threads A multiple of `line_threads`.
  FEEDLINE_HOST_DEVICE void fill(jpeg_chroma_tile& tile, std::uint32_t top, std::uint32_t left,
                                 std::uint32_t thread, std::uint32_t threads) const {
    if (is_grey_) return;
    // A thread copies the samples of one row of a block that is in the tile or next to it.
    const std::uint32_t number = thread % line_threads;
    const std::uint32_t begin = (left >> width_shift_) / 8;
    const std::uint32_t count = (tile.width >> width_shift_) / 8 + 2 * halves_width_;
    const std::uint32_t last = (chroma_width_ - 1) / 8;
    const std::uint32_t column = begin + number - halves_width_;  // wraps below 0
    if (number >= count || column > last) return;
    const std::uint32_t lines = 2 * ((tile.height >> halves_height_) + 2 * halves_height_);
    for (std::uint32_t line = thread / line_threads; line < lines; line += threads / line_threads) {
      const std::uint32_t component = line % 2;
      const std::uint32_t y = (top >> halves_height_) + line / 2;  // the row + `halves_height_`
      std::uint32_t row = y < halves_height_ ? 0 : y - halves_height_;
      if (row >= chroma_height_) row = chroma_height_ - 1;
      const std::uint32_t block = (row / 8 * mcus_across_ + column + 1) * blocks_ - 2 + component;
      const two_words samples =
          load_two_words(samples_ + block * block_stride + std::size_t{8} * (row % 8));
      std::uint8_t* const to =
          &tile.samples[component][line / 2][tile.margin + 8 * (column - begin)];
      store_word(to, samples.word[0]);
      store_word(to + 4, samples.word[1]);
      const std::uint32_t end = (chroma_width_ - 1) % 8;
      if (column == 0) to[-1] = to[0];
      if (column == last) to[end + 1] = to[end];
    }
  }

  /// Makes a square of pixels, and writes those of its rows that are in the image.
  /// @param tile The tile that contains the square.
  /// @param y A multiple of 4, within the image. @param x A multiple of 4, within the image or its
  ///          last block.
  /// @param pixels Pixels of the image; aligned to 4.
  FEEDLINE_HOST_DEVICE void make(const jpeg_chroma_tile& tile, std::uint32_t y, std::uint32_t x,
                                 std::uint8_t* pixels) const {
    const std::uint8_t* const luma_at = luma(y, x);
    std::uint32_t light[square];
    for (std::uint32_t i = 0; i < square; ++i) light[i] = load_word(luma_at + std::size_t{8} * i);
    if (is_grey_) return repeat(light, y, x, pixels);
    const near_rows blue = near_rows_of(tile, 0, y, x);
    const near_rows red = near_rows_of(tile, 1, y, x);
    const std::uint32_t row_bytes = jpeg_row_bytes(width_);
    std::uint8_t* to = pixels + std::size_t{y} * 3 * row_bytes + x;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (std::uint32_t i = 0; i < square; ++i, to += 3 * std::size_t{row_bytes}) {
      if (y + i >= height_) return;
      const four_pixels made = convert(light[i], i, blue, red);
      store_word(to, made.red);
      store_word(to + row_bytes, made.green);
      store_word(to + 2 * std::size_t{row_bytes}, made.blue);
    }
  }

 private:
  static constexpr std::uint32_t line_threads = 16;

  /// Chroma of the rows of a square. `own` are four samples of the chroma row that contains each
  /// row: those under its pixels and, along a halved axis, one more at either side. `other` are
  /// those of the nearest other chroma row.
  struct near_rows {
    std::uint32_t own[square];
    std::uint32_t other[square];  ///< meaningless if the axis is not halved
  };
  /// Four pixels side by side.
  struct four_pixels {
    std::uint32_t red;
    std::uint32_t green;
    std::uint32_t blue;
  };

  /// Writes a square of grey pixels.
  FEEDLINE_HOST_DEVICE void repeat(const std::uint32_t (&light)[square], std::uint32_t y,
                                   std::uint32_t x, std::uint8_t* pixels) const {
    const std::size_t row_bytes = jpeg_row_bytes(width_);
    for (std::uint32_t i = 0; i < square && y + i < height_; ++i)
      for (std::uint32_t channel = 0; channel < grey_channels_; ++channel)
        store_word(pixels + (std::size_t{3} * (y + i) + channel) * row_bytes + x, light[i]);
  }

  /// Address of a pixel's luma.
  [[nodiscard]] FEEDLINE_HOST_DEVICE const std::uint8_t* luma(std::uint32_t y,
                                                              std::uint32_t x) const {
    const std::uint32_t row = y / 8;
    const std::uint32_t column = x / 8;
    const std::uint32_t mcu = (row >> halves_height_) * mcus_across_ + (column >> width_shift_);
    const std::uint32_t block =
        ((row & halves_height_) << width_shift_) + (column & (luma_across_ - 1));
    return samples_ + (mcu * blocks_ + block) * block_stride + std::size_t{8} * (y % 8) + x % 8;
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE near_rows near_rows_of(const jpeg_chroma_tile& tile,
                                                            std::uint32_t component,
                                                            std::uint32_t y,
                                                            std::uint32_t x) const {
    const std::uint32_t row = y % tile.height >> halves_height_;
    const std::uint32_t column = tile.margin + (x % tile.width >> width_shift_) - halves_width_;
    const std::uint32_t aligns = 0x3210 + 0x1111 * (column % 4);
    const std::uint8_t* const at = &tile.samples[component][row][std::size_t{4} * (column / 4)];
    std::uint32_t rows[square];
    for (std::uint32_t i = 0; i < square; ++i) {
      const std::uint8_t* const line = at + i * sizeof tile.samples[0][0];
      rows[i] = choose_bytes(load_word(line), load_word(line + 4), aligns);
    }
    // Along a halved axis, the square is in rows 1 and 2.
    const bool is_halved = halves_height_ != 0;
    return {{is_halved ? rows[1] : rows[0], rows[1], rows[2], is_halved ? rows[2] : rows[3]},
            {rows[0], rows[2], rows[1], rows[3]}};
  }

  /// Chroma of pixel `x` of row `y` of a square, less 128. Along each halved axis the sample that
  /// contains the pixel counts three times, and its nearest other sample once.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t chroma(const near_rows& rows, std::uint32_t y,
                                                         std::uint32_t x) const {
    // Selects the sample that contains the pixel and its nearest neighbor, in the own row and in
    // the other.
    constexpr std::uint32_t halved[square] = {0x4501, 0x6521, 0x5612, 0x7632};
    const std::uint32_t samples = choose_bytes(rows.own[y], rows.other[y],
                                               halves_width_ != 0 ? halved[x] : 0x4400 + x * step_);
    const std::uint32_t half =
        (x % 2 == 0 ? half_ : half_at_odd_x_) + (y % 2 == 0 ? 0 : half_at_odd_y_);
    const std::uint32_t sum = add_products(samples, weights_, half - (128U << shift_));
    return static_cast<std::int32_t>(sum) >> shift_;
  }

  /// Makes row `y` of a square.
  [[nodiscard]] FEEDLINE_HOST_DEVICE four_pixels convert(std::uint32_t light, std::uint32_t y,
                                                         const near_rows& blues,
                                                         const near_rows& reds) const {
    std::uint32_t made[3][square];
    for (std::uint32_t x = 0; x < square; ++x) {
      const std::int32_t blue = chroma(blues, y, x);
      const std::int32_t red = chroma(reds, y, x);
      // All values are scaled by 2^16, and include a half for rounding.
      const auto grey = static_cast<std::int32_t>(choose_bytes(light, 0x8000, 0x7054 + (x << 8U)));
      made[0][x] = clamped(grey + red * 91881);
      made[1][x] = clamped(grey + blue * -22554 + red * -46802);
      made[2][x] = clamped(grey + blue * 116130);
    }
    return {whole_bytes(made[0]), whole_bytes(made[1]), whole_bytes(made[2])};
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t clamped(std::int32_t value) {
    constexpr std::int32_t most = 0xFFFFFF;
    const std::int32_t low = value < most ? value : most;
    return static_cast<std::uint32_t>(low < 0 ? 0 : low);
  }
  /// The upper bytes of the values: bits 16 to 23.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t whole_bytes(
      const std::uint32_t (&values)[square]) {
    return choose_bytes(choose_bytes(values[0], values[1], 0x62),
                        choose_bytes(values[2], values[3], 0x62), 0x5410);
  }

  const std::uint8_t* samples_;
  std::uint32_t height_;
  std::uint32_t width_;
  bool is_grey_;
  std::uint32_t grey_channels_;  ///< to which grey is written
  std::uint32_t luma_across_;
  std::uint32_t width_shift_;    ///< chroma samples are those of 1, 2 or 4 pixels side by side
  std::uint32_t halves_height_;  ///< 1 if chroma has half the height, else 0
  std::uint32_t halves_width_;
  std::uint32_t blocks_;
  std::uint32_t mcus_across_;
  std::uint32_t chroma_height_;
  std::uint32_t chroma_width_;
  std::uint32_t step_ = 0x1111;  ///< from one pixel's samples to the next one's
  // How four samples of chroma are combined.
  std::uint32_t weights_ = 1;
  std::uint32_t shift_ = 0;
  std::uint32_t half_ = 0;  ///< added before the shift
  std::uint32_t half_at_odd_x_ = 0;
  std::uint32_t half_at_odd_y_ = 0;  ///< added to that in odd rows
};

}  // namespace feedline::detail
