#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// The inverse cosine transform of a block of 8 x 8 coefficients in whole numbers, to the bit as
// libjpeg's slow integer method makes it: columns, then rows (Loeffler, Ligtenberg and Moschytz,
// "Practical Fast 1-D DCT Algorithms with 11 Multiplications", 1989). Factors are multiplied by
// 2^13; between columns and rows values are kept multiplied by 4.

/// Eight values of a column or a row.
struct jpeg_idct_line {
  std::int32_t value[8];
};

/// Transforms a line. @param shift Bits that the results are rounded off by.
FEEDLINE_HOST_DEVICE inline void jpeg_idct(jpeg_idct_line& line, std::uint32_t shift) {
  std::int32_t(&x)[8] = line.value;
  const std::int32_t half = 1 << (shift - 1);

  const std::int32_t even = (x[2] + x[6]) * 4433;
  const std::int32_t even2 = even + x[2] * 6270;
  const std::int32_t even6 = even - x[6] * 15137;
  const std::int32_t sum = (x[0] + x[4]) * 8192 + half;
  const std::int32_t difference = (x[0] - x[4]) * 8192 + half;
  const std::int32_t a[4] = {sum + even2, difference + even6, difference - even6, sum - even2};

  const std::int32_t both = (x[7] + x[3] + x[5] + x[1]) * 9633;
  const std::int32_t outer = (x[7] + x[1]) * -7373;
  const std::int32_t inner = (x[5] + x[3]) * -20995;
  const std::int32_t odd73 = both + (x[7] + x[3]) * -16069;
  const std::int32_t odd51 = both + (x[5] + x[1]) * -3196;
  const std::int32_t b[4] = {x[1] * 12299 + outer + odd51, x[3] * 25172 + inner + odd73,
                             x[5] * 16819 + inner + odd51, x[7] * 2446 + outer + odd73};
  for (std::uint32_t i = 0; i < 4; ++i) {
    x[i] = (a[i] + b[i]) >> shift;
    x[7 - i] = (a[i] - b[i]) >> shift;
  }
}

/// Transforms a column of coefficients.
FEEDLINE_HOST_DEVICE inline void jpeg_idct_column(jpeg_idct_line& column) {
  jpeg_idct(column, 11);
}

/// Transforms a row of what columns became, to samples of 0 to 255.
FEEDLINE_HOST_DEVICE inline void jpeg_idct_row(jpeg_idct_line& row) {
  jpeg_idct(row, 18);
  for (std::int32_t& each : row.value) {
    const std::int32_t sample = each + 128;
    each = sample < 0 ? 0 : sample > 255 ? 255 : sample;
  }
}

}  // namespace feedline::detail
