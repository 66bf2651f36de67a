#pragma once

#include "codecs/jpeg/frame.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// Meaning of a symbol: the number of bits that follow its code, and the number of coefficients by
/// which it advances in the block, including its own; at the end of a block, all that are left.
struct jpeg_scan_step {
  static constexpr std::uint32_t all = 64;

  /// The step of a symbol; never 0. @param symbol A symbol of an AC table; for one of a DC table
  /// only the bits are meaningful.
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

/// A Huffman table, and the tables that decode it.
struct jpeg_scan_table {
  static constexpr std::uint32_t fast_bits = 8;
  static constexpr std::uint32_t step_bits = 11;  ///< bits of a `jpeg_scan_step`

  std::uint16_t fast[1U << fast_bits];  ///< entry for the next bits: length << 11 | step; 0: longer
  std::int32_t last[18];     ///< last code of each length, -1: none; then more than any code
  std::int32_t offset[17];   ///< index among the steps, less the code, for each length
  std::uint16_t steps[256];  ///< steps in order of codes

  /// @param next Bits that begin with the code, highest first.
  /// @param length The shortest length that the code may have.
  /// @return An entry like those of `fast`. Bits with which no code begins have length 17, and end
  ///         a block.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t find(std::uint32_t next,
                                                        std::uint32_t length) const {
    while (static_cast<std::int32_t>(next >> (32 - length)) > last[length]) ++length;
    const std::uint32_t step =
        length > 16 ? jpeg_scan_step::of(0)
                    : steps[static_cast<std::int32_t>(next >> (32 - length)) + offset[length]];
    return length << step_bits | step;
  }
};

/// Working memory of a scan's decoder; its previous contents do not matter.
struct jpeg_scan_tables {
  jpeg_scan_table table[4];  ///< in the order of `jpeg_frame::huffman`: DC 0, DC 1, AC 0, AC 1
};

/// A file's scan, and the tables that decode it.
struct jpeg_scan {
  const std::uint8_t* file;
  std::uint32_t bytes;      ///< bytes of the file
  const jpeg_frame& frame;  ///< result of `read_jpeg_frame` for it
  jpeg_scan_tables& tables;
};

/// More bytes than any block takes, whatever its codes: 1,666 bits, which are 418 bytes at most
/// with stuffing, and the bytes that are read ahead.
inline constexpr std::uint32_t max_jpeg_block_bytes = 512;

/// @param defined The 16 counts and the symbols of a table that `read_jpeg_frame` accepted.
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

/// Builds the tables that a scan's file defines: four lanes of a team build one each.
template <class Team>
FEEDLINE_HOST_DEVICE void build_tables(Team& team, const jpeg_scan& scan) {
  constexpr std::uint32_t apart = Team::lanes / 4;  // so that each is in another warp
  team.each([&](std::uint32_t lane) {
    const std::uint32_t number = lane / apart;
    if (lane % apart != 0 || number >= 4 || scan.frame.huffman[number] == 0) return;
    build(scan.tables.table[number], scan.file + scan.frame.huffman[number]);
  });
}

}  // namespace feedline::detail
