#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/frame.hpp"

#include <cstdint>

namespace feedline::detail {

/// What a symbol means to who makes no pixels of it: bits that follow its code, and coefficients of
/// the block that it passes, itself included: all that are left at the end of a block.
struct jpeg_scan_step {
  static constexpr std::uint32_t all = 64;

  /// Never 0. @param symbol An AC table's; of a DC table's only the bits mean something.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t of(std::uint32_t symbol) {
    return (symbol == 0 ? all : (symbol >> 4U) + 1) << 4U | (symbol & 15U);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t bits(std::uint32_t step) {
    return step & 15U;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t passed(std::uint32_t step) {
    return step >> 4U;
  }
};

/// A Huffman table, and what decodes it.
struct jpeg_scan_table {
  static constexpr std::uint32_t fast_bits = 8;
  static constexpr std::uint32_t step_bits = 11;  ///< of a `jpeg_scan_step`

  std::uint16_t fast[1U << fast_bits];  ///< by the next bits: length << 11 | step; 0: a longer code
  std::int32_t last[18];                ///< code of each length, -1: none; behind them, any code
  std::int32_t offset[17];              ///< of a code of each length among the steps
  std::uint16_t steps[256];             ///< by code
};

/// Memory that a scan's check works in; its contents before do not matter.
struct jpeg_scan_tables {
  jpeg_scan_table dc[2];
  jpeg_scan_table ac[2];
};

/// A file's scan, and the tables that it is decoded by.
struct jpeg_scan {
  const std::uint8_t* file;
  std::uint32_t bytes;      ///< of the file
  const jpeg_frame& frame;  ///< what `read_jpeg_frame` said of it
  jpeg_scan_tables& tables;
};

/// Where a reader of a scan stands. Bits that were read and not yet decoded are the lowest of the
/// buffer.
struct jpeg_scan_place {
  std::uint64_t buffer = 0;
  std::uint32_t ready = 0;  ///< bits
  std::uint32_t at = 0;     ///< byte of the file that is read next
  std::uint32_t block = 0;  ///< that is decoded next
  std::int32_t dc[3] = {};  ///< the first coefficient of the block before, of each component
};

/// Each block of a large enough rest lies in it, whatever its codes: 1,666 bits, 418 bytes at most
/// with stuffing, and what is read ahead.
inline constexpr std::uint32_t most_jpeg_block_bytes = 512;

/// @param defined The 16 counts and the symbols of a table that `read_jpeg_frame` took.
FEEDLINE_HOST_DEVICE inline void build(jpeg_scan_table& table, const std::uint8_t* defined) {
  constexpr std::uint32_t fast_bits = jpeg_scan_table::fast_bits;
  const std::uint8_t* const symbols = defined + 16;
  for (std::uint16_t& entry : table.fast) entry = 0;
  std::uint32_t code = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t length = 1; length <= 16; ++length, code *= 2) {
    const std::uint32_t count = defined[length - 1];
    table.offset[length] = static_cast<std::int32_t>(begin) - static_cast<std::int32_t>(code);
    for (std::uint32_t i = begin; i < begin + count; ++i, ++code) {
      const std::uint32_t step = jpeg_scan_step::of(symbols[i]);
      table.steps[i] = static_cast<std::uint16_t>(step);
      if (length > fast_bits) continue;
      const std::uint32_t others = fast_bits - length;
      for (std::uint32_t low = 0; low < 1U << others; ++low)
        table.fast[code << others | low] =
            static_cast<std::uint16_t>(length << jpeg_scan_table::step_bits | step);
    }
    table.last[length] = count == 0 ? -1 : static_cast<std::int32_t>(code) - 1;
    begin += count;
  }
  table.last[17] = 0x7FFFFFFF;
}

}  // namespace feedline::detail
