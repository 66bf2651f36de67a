#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// A Huffman table, and what decodes it.
struct jpeg_scan_table {
  static constexpr std::uint32_t fast_bits = 8;

  std::uint16_t fast[1U << fast_bits];  ///< by the next bits: length << 8 | symbol; 0: a longer one
  std::int32_t last[18];                ///< code of each length, -1: none; behind them, any code
  std::int32_t offset[17];              ///< of a code of each length among the symbols
  std::uint8_t symbols[256];            ///< by code
};

/// Memory that a scan's check works in; its contents before do not matter.
struct jpeg_scan_tables {
  jpeg_scan_table dc[2];
  jpeg_scan_table ac[2];
};

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
      table.symbols[i] = symbols[i];
      if (length > fast_bits) continue;
      const std::uint32_t others = fast_bits - length;
      for (std::uint32_t low = 0; low < 1U << others; ++low)
        table.fast[code << others | low] = static_cast<std::uint16_t>(length << 8U | symbols[i]);
    }
    table.last[length] = count == 0 ? -1 : static_cast<std::int32_t>(code) - 1;
    begin += count;
  }
  table.last[17] = 0x7FFFFFFF;
}

}  // namespace feedline::detail
