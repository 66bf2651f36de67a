#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/coefficients.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan_bits.hpp"
#include "image/jpeg/scan_tables.hpp"

#include <cstdint>

namespace feedline::detail {

/// Where in a scan a decoder stands between two codes.
struct jpeg_scan_point {
  std::uint32_t position = 0;  ///< bits
  std::uint16_t unit = 0;      ///< block of the MCU
  std::uint16_t passed = 0;    ///< coefficients of the block
};

/// Where a segment's decoding ended.
struct jpeg_segment_end {
  jpeg_scan_point point;
  std::uint32_t blocks = 0;  ///< that it came to the end of
};

/// A code, as tables have it.
struct jpeg_code {
  std::uint32_t entry;  ///< length << 11 | `jpeg_scan_step`

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t length() const {
    return entry >> jpeg_scan_table::step_bits;
  }
  /// Behind the code.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t bits() const {
    return jpeg_scan_step::bits(entry);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t passed() const {
    return jpeg_scan_step::passed(entry & ((1U << jpeg_scan_table::step_bits) - 1U));
  }
};

/// What the next bits begin with, of each of a scan's tables: so many bits that longer codes are
/// rare, and lanes that decode side by side seldom wait for one that has such a code.
struct jpeg_segment_tables {
  static constexpr std::uint32_t bits = 10;
  static constexpr std::uint32_t entries = 1U << bits;

  std::uint16_t codes[4][entries];  ///< 0: a longer one

  /// Builds an entry of a table that is defined.
  FEEDLINE_HOST_DEVICE void build(const jpeg_scan_tables& tables, std::uint32_t table,
                                  std::uint32_t entry) {
    const jpeg_code found{tables.table[table].find(entry << (32 - bits), 1)};
    codes[table][entry] = static_cast<std::uint16_t>(found.length() > bits ? 0 : found.entry);
  }
};

/// The blocks of an MCU.
class jpeg_units {
 public:
  FEEDLINE_HOST_DEVICE explicit jpeg_units(const jpeg_frame& frame)
      : count_{frame.blocks()}, luma_{frame.luma_blocks()} {
    for (std::uint32_t unit = 0; unit < count_; ++unit) {
      const auto& tables = frame.tables[component(unit)];
      tables_ |= (std::uint32_t{tables.dc} | (2U + tables.ac) << 2U) << unit * 4;
    }
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t component(std::uint32_t unit) const {
    return unit < luma_ ? 0 : unit - luma_ + 1;
  }
  /// The number of a unit's DC table or of its AC table.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t table(std::uint32_t unit, bool is_dc) const {
    return tables_ >> (unit * 4 + (is_dc ? 0U : 2U)) & 3U;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t behind(std::uint32_t unit) const {
    return unit + 1 == count_ ? 0 : unit + 1;
  }

 private:
  std::uint32_t count_;
  std::uint32_t luma_;
  std::uint32_t tables_ = 0;  ///< of all units, so that a register has them
};

/// Decodes segments: parts of a scan that are decoded by themselves, code by code. The lanes of a
/// warp do so side by side, and wait for each other at whatever only some of them have to do.
class jpeg_segment_reader {
 public:
  /// @param tables Built for those of the scan's tables that are defined.
  FEEDLINE_HOST_DEVICE jpeg_segment_reader(const jpeg_scan& scan, const jpeg_segment_tables& tables,
                                           const jpeg_scan_bits& bits)
      : tables_{tables},
        longer_{scan.tables},
        bits_{bits},
        units_{scan.frame},
        blocks_{scan.frame.mcus() * scan.frame.blocks()} {}

  /// Walks from a point on, up to the first code that begins at `end` or behind it.
  [[nodiscard]] FEEDLINE_HOST_DEVICE jpeg_segment_end walk(const jpeg_scan_point& from,
                                                           std::uint32_t end) const {
    jpeg_bit_reader reader{bits_, from.position};
    place at{from.unit, from.passed, 0};
    while (reader.position() < end) {
      const jpeg_code code = find(at, reader.peek());
      reader.skip(code.length() + code.bits());
      pass(at, code);
    }
    return {point_of(reader, at), at.block};
  }

  /// Walks the same way, though not past the scan's last block or over what is cut off, and writes
  /// coefficients: of each block the first one's difference from that of the block before.
  /// @param from Where the segment before ended, with the blocks of all before this one.
  FEEDLINE_HOST_DEVICE jpeg_segment_end write(const jpeg_segment_end& from, std::uint32_t end,
                                              const jpeg_coefficient_writer& coefficients) {
    jpeg_bit_reader reader{bits_, from.point.position};
    place at{from.point.unit, from.point.passed, from.blocks};
    while (reader.position() < end && at.block < blocks_) {
      const std::uint32_t next = reader.peek();
      const place before = at;
      const jpeg_code code = find(at, next);
      if (reader.position() + code.length() + code.bits() > bits_.count) break;
      reader.skip(code.length() + code.bits());
      if (code.length() > 16) last_unknown_ = reader.position();
      pass(at, code);
      if (code.bits() == 0) continue;
      const std::int32_t value = jpeg_value(next << code.length(), code.bits());
      if (before.passed == 0)
        coefficients.write_difference(before.block, value);
      else
        coefficients.write(before.block, units_.component(before.unit),
                           before.passed + code.passed() - 1, value);
    }
    return {point_of(reader, at), at.block};
  }

  /// Where the last bits ended that no code begins with; 0: there were none.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t last_unknown() const { return last_unknown_; }

 private:
  struct place {
    std::uint32_t unit;
    std::uint32_t passed;
    std::uint32_t block;
  };

  [[nodiscard]] FEEDLINE_HOST_DEVICE static jpeg_scan_point point_of(const jpeg_bit_reader& reader,
                                                                     const place& at) {
    return {reader.position(), static_cast<std::uint16_t>(at.unit),
            static_cast<std::uint16_t>(at.passed)};
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE jpeg_code find(const place& at, std::uint32_t next) const {
    const std::uint32_t table = units_.table(at.unit, at.passed == 0);
    const std::uint32_t found = tables_.codes[table][next >> (32 - jpeg_segment_tables::bits)];
    return {found != 0 ? found : longer_.table[table].find(next, jpeg_segment_tables::bits + 1)};
  }
  FEEDLINE_HOST_DEVICE void pass(place& at, const jpeg_code& code) const {
    at.passed = at.passed == 0 ? 1 : at.passed + code.passed();
    if (at.passed < jpeg_scan_step::all) return;
    at.passed = 0;
    at.unit = units_.behind(at.unit);
    ++at.block;
  }

  const jpeg_segment_tables& tables_;
  const jpeg_scan_tables& longer_;
  jpeg_scan_bits bits_;
  jpeg_units units_;
  std::uint32_t blocks_;  ///< of the scan
  std::uint32_t last_unknown_ = 0;
};

}  // namespace feedline::detail
