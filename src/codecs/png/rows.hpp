#pragma once

#include "codecs/png/frame.hpp"
#include "codecs/png/pixel.hpp"
#include "detail/host_device.hpp"
#include "detail/packed_bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Bytes that a filter relates to those of other units: in a word, the first is the lowest.
template <std::uint32_t Bytes>
struct png_unit {
  std::uint64_t word = 0;

  [[nodiscard]] FEEDLINE_HOST_DEVICE static png_unit load(const std::uint8_t* from) {
    std::uint64_t word = 0;
    for (std::uint32_t i = 0; i < Bytes; ++i) word |= std::uint64_t{from[i]} << 8 * i;
    return {word};
  }
  FEEDLINE_HOST_DEVICE void store(std::uint8_t* to) const {
    for (std::uint32_t i = 0; i < Bytes; ++i) to[i] = static_cast<std::uint8_t>(word >> 8 * i);
  }
};

/// The byte that a Paeth filter predicts from those to the left, above, and above the left.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int32_t paeth(std::int32_t left, std::int32_t up,
                                                                std::int32_t corner) {
  const auto size = [](std::int32_t value) { return value < 0 ? -value : value; };
  const std::int32_t to_left = size(up - corner);
  const std::int32_t to_up = size(left - corner);
  const std::int32_t to_corner = size(left + up - 2 * corner);
  if (to_left <= to_up && to_left <= to_corner) return left;
  return to_up <= to_corner ? up : corner;
}

inline constexpr std::uint32_t png_filters = 5;

/// Undoes a filter. @param filter 0 none, 1 left, 2 up, 3 mean of both, 4 Paeth.
template <std::uint32_t Bytes>
[[nodiscard]] FEEDLINE_HOST_DEVICE png_unit<Bytes> unfiltered(std::uint32_t filter,
                                                              png_unit<Bytes> stored,
                                                              png_unit<Bytes> left,
                                                              png_unit<Bytes> up,
                                                              png_unit<Bytes> corner) {
  png_unit<Bytes> made;
  for (std::uint32_t i = 0; i < Bytes; ++i) {
    const auto byte = [&](const png_unit<Bytes>& unit) {
      return static_cast<std::int32_t>(unit.word >> 8 * i & 255U);
    };
    const std::int32_t a = byte(left);
    const std::int32_t b = byte(up);
    const std::int32_t predicted = filter == 0   ? 0
                                   : filter == 1 ? a
                                   : filter == 2 ? b
                                   : filter == 3 ? (a + b) >> 1
                                                 : paeth(a, b, byte(corner));
    made.word |= static_cast<std::uint64_t>((byte(stored) + predicted) & 255) << 8 * i;
  }
  return made;
}

/// Makes an image's pixels from its inflated bytes. A lane makes a row, and is one unit after the
/// lane above, whose result it needs.
///
/// Pixels are stored like those of `jpeg_pixels`: row after row, each with first the red, then the
/// green, then the blue values. The number of pixels rounded up to a multiple of 4 is written. If
/// one value a pixel is wanted, it is written where red would be.
/// @tparam Warp `block_warp`, or a warp of the host.
/// @tparam Bytes `png_frame::unit_bytes`.
template <class Warp, std::uint32_t Bytes>
class png_rows {
 public:
  /// @param filtered The image's rows, each after a byte that names its filter. Some are changed.
  /// @param pixels Aligned to 4. @param row_values Values of a row of one channel of pixels.
  FEEDLINE_HOST_DEVICE png_rows(Warp& warp, const png_frame& frame, const png_colours& colours,
                                std::uint8_t* filtered, std::uint8_t* pixels,
                                std::uint32_t row_values)
      : warp_{warp},
        colours_{colours},
        filtered_{filtered},
        pixels_{pixels},
        row_values_{row_values},
        width_{frame.width},
        height_{frame.height},
        units_{frame.row_bytes() / Bytes},
        stride_{1 + frame.row_bytes()} {}

  /// Makes the rows up to `end`. @return False if some row of the image has an unknown filter.
  FEEDLINE_HOST_DEVICE bool make(std::uint32_t end) {
    if (!are_filters_known()) return false;
    for (std::uint32_t first = 0; first < end; first += Warp::lanes) make_band(first, end);
    return true;
  }

 private:
  using unit = png_unit<Bytes>;

  /// A lane's row.
  struct lane_row {
    std::uint32_t filter = 0;
    unit left = {};
    unit corner = {};
    unit stored = {};          ///< the next unit, as it is stored
    std::uint32_t of[3] = {};  ///< the last four pixels, the newest is the highest
  };

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint8_t* row_at(std::uint32_t row) const {
    return filtered_ + std::size_t{row} * stride_;
  }

  FEEDLINE_HOST_DEVICE bool are_filters_known() {
    return !warp_.any(warp_.map([&](std::uint32_t lane) {
      bool is_unknown = false;
      for (std::uint32_t row = lane; row < height_; row += Warp::lanes)
        if (*row_at(row) >= png_filters) is_unknown = true;
      return is_unknown;
    }));
  }

  FEEDLINE_HOST_DEVICE void make_band(std::uint32_t first, std::uint32_t end) {
    typename Warp::template per_lane<lane_row> rows = warp_.map([&](std::uint32_t lane) {
      lane_row row;
      if (first + lane >= end) return row;
      row.filter = *row_at(first + lane);
      row.stored = unit::load(row_at(first + lane) + 1);
      return row;
    });
    typename Warp::template per_lane<std::uint64_t> newest =
        warp_.map([](std::uint32_t) { return std::uint64_t{0}; });
    const std::uint32_t count = end - first < Warp::lanes ? end - first : Warp::lanes;
    for (std::uint32_t step = 0; step < units_ + count - 1; ++step) {
      typename Warp::template per_lane<std::uint64_t> above = warp_.before(newest);
      warp_.each([&](std::uint32_t lane) {
        const std::uint32_t at = step - lane;  // wraps below 0
        if (lane >= count || at >= units_) return;
        if (lane == 0)
          above[lane] = first == 0 ? 0 : unit::load(row_at(first - 1) + 1 + at * Bytes).word;
        make_unit(rows[lane], first + lane, at, {above[lane]});
        newest[lane] = rows[lane].left.word;
        if (lane == Warp::lanes - 1) rows[lane].left.store(row_at(first + lane) + 1 + at * Bytes);
      });
    }
  }

  FEEDLINE_HOST_DEVICE void make_unit(lane_row& row, std::uint32_t y, std::uint32_t at, unit up) {
    const unit made = unfiltered(row.filter, row.stored, row.left, up, row.corner);
    row.left = made;
    row.corner = up;
    if (at + 1 < units_) row.stored = unit::load(row_at(y) + 1 + (at + 1) * Bytes);
    if (Bytes > 1) return put(row, y, at, colours_.pixel(made.word, 0));
    const std::uint32_t pixels = colours_.pixels();
    for (std::uint32_t i = 0; i < pixels && at * pixels + i < width_; ++i)
      put(row, y, at * pixels + i, colours_.pixel(made.word, i));
  }

  FEEDLINE_HOST_DEVICE void put(lane_row& row, std::uint32_t y, std::uint32_t x,
                                const png_pixel& pixel) {
    if (colours_.wanted().is_wide) return put_wide(y, x, pixel);
    for (std::uint32_t channel = 0; channel < 3; ++channel)
      row.of[channel] = row.of[channel] >> 8U | std::uint32_t{pixel.of[channel]} << 24U;
    if (x % 4 != 3 && x + 1 != width_) return;
    std::uint8_t* const to = pixels_ + std::size_t{3} * row_values_ * y + x / 4 * 4;
    for (std::uint32_t channel = 0; channel < 3; ++channel) {
      store_word(to + std::size_t{channel} * row_values_, row.of[channel] >> (3 - x % 4) * 8);
      if (colours_.wanted().is_grey) return;
    }
  }
  FEEDLINE_HOST_DEVICE void put_wide(std::uint32_t y, std::uint32_t x, const png_pixel& pixel) {
    auto* const to =
        reinterpret_cast<std::uint16_t*>(pixels_) + std::size_t{3} * row_values_ * y + x;
    for (std::uint32_t channel = 0; channel < 3; ++channel) {
      to[std::size_t{channel} * row_values_] = pixel.of[channel];
      if (colours_.wanted().is_grey) return;
    }
  }

  Warp& warp_;
  png_colours colours_;
  std::uint8_t* filtered_;
  std::uint8_t* pixels_;
  std::uint32_t row_values_;
  std::uint32_t width_;
  std::uint32_t height_;
  std::uint32_t units_;   ///< units of a row
  std::uint32_t stride_;  ///< bytes between rows
};

/// Makes pixels as `png_rows` does, for units of any size.
template <class Warp>
FEEDLINE_HOST_DEVICE bool make_png_rows(Warp& warp, const png_frame& frame,
                                        const png_colours& colours, std::uint8_t* filtered,
                                        std::uint8_t* pixels, std::uint32_t row_values,
                                        std::uint32_t end) {
  const auto make = [&](auto rows) { return rows.make(end); };
  switch (frame.unit_bytes()) {
    case 1:
      return make(png_rows<Warp, 1>{warp, frame, colours, filtered, pixels, row_values});
    case 2:
      return make(png_rows<Warp, 2>{warp, frame, colours, filtered, pixels, row_values});
    case 3:
      return make(png_rows<Warp, 3>{warp, frame, colours, filtered, pixels, row_values});
    case 4:
      return make(png_rows<Warp, 4>{warp, frame, colours, filtered, pixels, row_values});
    case 6:
      return make(png_rows<Warp, 6>{warp, frame, colours, filtered, pixels, row_values});
    default:
      return make(png_rows<Warp, 8>{warp, frame, colours, filtered, pixels, row_values});
  }
}

}  // namespace feedline::detail
