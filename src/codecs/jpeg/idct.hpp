#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// The inverse cosine transform of a block of 8 x 8 coefficients in integers, bit for bit like
// libjpeg's slow integer method: columns, then rows (Loeffler, Ligtenberg and Moschytz, "Practical
// Fast 1-D DCT Algorithms with 11 Multiplications", 1989). Factors are scaled by 2^13; between
// columns and rows values are scaled by 4.
//
// Coefficients of images stay far below 16 bits, but those of a legal file need not. The
// handling of larger ones is defined by libjpeg-turbo's vector code for x86-64 (jidctint-sse2.asm
// and jidctint-avx2.asm, which agree): some sums wrap around in 16 bits, all others in 32, and
// results are clamped to 16. Its C code computes such blocks differently.

/// Eight 16-bit values of a column or a row.
struct jpeg_idct_line {
  std::int32_t value[8];
};

/// A value's lowest 16 bits, sign-extended.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t jpeg_wrapped(std::uint32_t value) {
  return static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int32_t jpeg_clamped(std::int32_t value,
                                                                       std::int32_t least,
                                                                       std::int32_t most) {
  return value < least ? least : value > most ? most : value;
}

/// Transforms a line. @param shift Bits by which the results are shifted, with rounding.
FEEDLINE_HOST_DEVICE inline void jpeg_idct(jpeg_idct_line& line, std::uint32_t shift) {
  std::uint32_t x[8];
  for (std::uint32_t i = 0; i < 8; ++i) x[i] = static_cast<std::uint32_t>(line.value[i]);
  const std::uint32_t half = 1U << (shift - 1);

  const std::uint32_t even = (x[2] + x[6]) * 4433;
  const std::uint32_t even2 = even + x[2] * 6270;
  const std::uint32_t even6 = even - x[6] * 15137;
  const std::uint32_t sum = jpeg_wrapped(x[0] + x[4]) * 8192 + half;
  const std::uint32_t difference = jpeg_wrapped(x[0] - x[4]) * 8192 + half;
  const std::uint32_t a[4] = {sum + even2, difference + even6, difference - even6, sum - even2};

  const std::uint32_t sum73 = jpeg_wrapped(x[7] + x[3]);
  const std::uint32_t sum51 = jpeg_wrapped(x[5] + x[1]);
  const std::uint32_t both = (sum73 + sum51) * 9633;
  const std::uint32_t outer = (x[7] + x[1]) * 7373;
  const std::uint32_t inner = (x[5] + x[3]) * 20995;
  const std::uint32_t odd73 = both - sum73 * 16069;
  const std::uint32_t odd51 = both - sum51 * 3196;
  const std::uint32_t b[4] = {x[1] * 12299 - outer + odd51, x[3] * 25172 - inner + odd73,
                              x[5] * 16819 - inner + odd51, x[7] * 2446 - outer + odd73};
  for (std::uint32_t i = 0; i < 4; ++i) {
    line.value[i] = static_cast<std::int32_t>(a[i] + b[i]) >> shift;
    line.value[7 - i] = static_cast<std::int32_t>(a[i] - b[i]) >> shift;
  }
}

/// Transforms a column of coefficients.
/// @param is_flat Whether all of the block's coefficients below its first row are 0, before they
///   are multiplied. Such columns are not transformed, but multiplied by 4, in 16 bits.
FEEDLINE_HOST_DEVICE inline void jpeg_idct_column(jpeg_idct_line& column, bool is_flat) {
  if (is_flat)  // the transform would only multiply by 4
    column.value[0] = static_cast<std::int16_t>(column.value[0] * 4) / 4;
  jpeg_idct(column, 11);
  for (std::int32_t& each : column.value) each = jpeg_clamped(each, -32768, 32767);
}

/// Transforms a row of column results to samples of 0 to 255.
FEEDLINE_HOST_DEVICE inline void jpeg_idct_row(jpeg_idct_line& row) {
  jpeg_idct(row, 18);
  for (std::int32_t& each : row.value) each = jpeg_clamped(each + 128, 0, 255);
}

}  // namespace feedline::detail
