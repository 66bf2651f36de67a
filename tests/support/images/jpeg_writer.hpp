#pragma once

#include "support/images/image_bytes.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace feedline::test {

/// A baseline JPEG's parts before they are coded, so that a test may write coefficients and
/// tables that no encoder of images would.
struct jpeg_parts {
  struct component {
    std::uint8_t quantization = 0;  ///< number of its table, 0 to 3
    std::uint8_t dc = 0;            ///< 0 or 1; so with `ac`
    std::uint8_t ac = 0;
  };
  /// Coefficients in the order of scans. The first is the difference from the block before.
  using block = std::array<std::int16_t, 64>;
  /// Codes are given to the symbols that are used, and to these.
  struct code {
    std::vector<std::uint8_t> symbols;  ///< in the order of their codes, all that may be used
    /// How the tree of codes grows: entry i says which of its leaves, modulo their count, is split
    /// the i-th time. Leaves at depth 16 are passed over.
    std::vector<std::uint32_t> splits;
  };

  std::uint16_t height = 0;
  std::uint16_t width = 0;
  std::uint8_t luma_across = 1;  ///< blocks of luma in an MCU
  std::uint8_t luma_down = 1;
  std::uint16_t restart_interval = 0;  ///< MCUs; 0: none
  bool has_jfif_marker = true;
  std::vector<component> components;                         ///< 1: grey, or 3: YCbCr
  std::array<std::array<std::uint8_t, 64>, 4> quantization;  ///< in the order of scans; none is 0
  std::array<code, 4> codes;                                 ///< DC 0, DC 1, AC 0, AC 1
  std::vector<block> blocks;  ///< blocks of all MCUs, in the order of the scan

  [[nodiscard]] std::uint32_t blocks_of_mcu() const {
    return std::uint32_t{luma_across} * luma_down + static_cast<std::uint32_t>(components.size()) -
           1U;
  }
  [[nodiscard]] std::uint32_t mcus() const;
  /// The component that a block of an MCU belongs to.
  [[nodiscard]] std::uint32_t component_of(std::uint32_t unit) const {
    const std::uint32_t luma = std::uint32_t{luma_across} * luma_down;
    return unit < luma ? 0 : unit - luma + 1;
  }
};

/// The bits of a coefficient: 0 for 0, 10 for 1023.
[[nodiscard]] std::uint32_t jpeg_size(int value);

/// The file of these parts. Differences have 11 bits at most, other coefficients 10.
/// @throws std::logic_error if a symbol has no code, or a table has more than 256 symbols.
[[nodiscard]] byte_vector write_jpeg(const jpeg_parts& parts);

}  // namespace feedline::test
