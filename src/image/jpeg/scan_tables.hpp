#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/frame.hpp"

#include <cstdint>

namespace feedline::detail {

/// What a symbol means: bits that follow its code, and coefficients of
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

  /// @param next   Bits, of which the code is the highest.
  /// @param length Of the shortest code that it may be.
  /// @return As `fast` has it. Bits that no code begins with are 17, and end a block.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t find(std::uint32_t next,
                                                        std::uint32_t length) const {
    while (static_cast<std::int32_t>(next >> (32 - length)) > last[length]) ++length;
    const std::uint32_t step =
        length > 16 ? jpeg_scan_step::of(0)
                    : steps[static_cast<std::int32_t>(next >> (32 - length)) + offset[length]];
    return length << step_bits | step;
  }
};

/// Memory that a scan's decoder works in; its contents before do not matter.
struct jpeg_scan_tables {
  jpeg_scan_table table[4];  ///< as `jpeg_frame::huffman`: DC 0, DC 1, AC 0, AC 1
};

/// A file's scan, and the tables that it is decoded by.
struct jpeg_scan {
  const std::uint8_t* file;
  std::uint32_t bytes;      ///< of the file
  const jpeg_frame& frame;  ///< what `read_jpeg_frame` said of it
  jpeg_scan_tables& tables;
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

/// Builds the tables that a scan's file defines, four lanes of a team one each.
template <class Team>
FEEDLINE_HOST_DEVICE void build_tables(Team& team, const jpeg_scan& scan) {
  constexpr std::uint32_t apart = Team::lanes / 4;  // so that each has a warp of its own
  team.each([&](std::uint32_t lane) {
    const std::uint32_t number = lane / apart;
    if (lane % apart != 0 || number >= 4 || scan.frame.huffman[number] == 0) return;
    build(scan.tables.table[number], scan.file + scan.frame.huffman[number]);
  });
}

}  // namespace feedline::detail
