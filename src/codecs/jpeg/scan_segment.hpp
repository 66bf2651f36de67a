#pragma once

#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/scan_bits.hpp"
#include "codecs/jpeg/scan_tables.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// The position of a decoder in a scan, between two codes.
struct jpeg_scan_point {
  std::uint32_t position = 0;  ///< bits
  std::uint16_t unit = 0;      ///< index of the block in its MCU
  std::uint16_t passed = 0;    ///< coefficients of the block that were passed
};

/// The result of decoding a segment: where it ended.
struct jpeg_segment_end {
  jpeg_scan_point point;
  std::uint32_t blocks = 0;  ///< number of blocks that it completed
};

/// A code, as an entry of a table.
struct jpeg_code {
  std::uint32_t entry;  ///< length << 11 | `jpeg_scan_step`

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t length() const {
    return entry >> jpeg_scan_table::step_bits;
  }
  /// Bits that follow the code.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t bits() const {
    return jpeg_scan_step::bits(entry);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t passed() const {
    return jpeg_scan_step::passed(entry & ((1U << jpeg_scan_table::step_bits) - 1U));
  }
};

/// Entries for the next bits, for each of a scan's tables. They cover so many bits that longer
/// codes are rare, and lanes that decode side by side seldom wait for one that has such a code.
struct jpeg_segment_tables {
  // Number of bits by which the entries of a table are found. DC codes are shorter.
  static constexpr std::uint32_t dc_bits = 9;
  static constexpr std::uint32_t ac_bits = 11;
  static constexpr std::uint32_t dc_entries = 1U << dc_bits;
  static constexpr std::uint32_t ac_entries = 1U << ac_bits;

  [[nodiscard]] FEEDLINE_HOST_DEVICE static constexpr std::uint32_t bits(bool is_dc) {
    return is_dc ? dc_bits : ac_bits;
  }

  /// Entries; 0: the code is longer.
  alignas(std::uint32_t) std::uint16_t codes[2 * (dc_entries + ac_entries)];

  /// @param table Index in `jpeg_scan_tables`. @param next The next 32 bits.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t place_of(std::uint32_t table, bool is_dc,
                                                                   std::uint32_t next) {
    const std::uint32_t begin =
        is_dc ? table * dc_entries : table * ac_entries - 2 * (ac_entries - dc_entries);
    return begin + (next >> (32 - bits(is_dc)));
  }
  /// Builds an entry of a table that is defined.
  FEEDLINE_HOST_DEVICE void build(const jpeg_scan_tables& tables, std::uint32_t table,
                                  std::uint32_t entry) {
    const bool is_dc = table < 2;
    const std::uint32_t next = entry << (32 - bits(is_dc));
    const jpeg_code found{tables.table[table].find(next, 1)};
    codes[place_of(table, is_dc, next)] =
        static_cast<std::uint16_t>(found.length() > bits(is_dc) ? 0 : found.entry);
  }
};

/// The blocks of an MCU.
class jpeg_units {
 public:
  FEEDLINE_HOST_DEVICE explicit jpeg_units(const jpeg_frame& frame) : count_{frame.blocks()} {
    for (std::uint32_t unit = 0; unit < count_; ++unit) {
      const auto& tables = frame.tables[frame.component(unit)];
      tables_ |= (std::uint32_t{tables.dc} | (2U + tables.ac) << 2U) << unit * 4;
    }
  }

  /// The index of a unit's DC table or of its AC table.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t table(std::uint32_t unit, bool is_dc) const {
    return tables_ >> (unit * 4 + (is_dc ? 0U : 2U)) & 3U;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t behind(std::uint32_t unit) const {
    return unit + 1 == count_ ? 0 : unit + 1;
  }

 private:
  std::uint32_t count_;
  std::uint32_t tables_ = 0;  ///< table indices of all units, so that one register holds them
};

/// Decodes segments: parts of a scan that are decoded independently, code by code. The lanes of a
/// warp do so side by side, and wait for each other whenever only some of them have extra work.
class jpeg_segment_reader {
 public:
  /// @param tables Must be built for those of the scan's tables that are defined.
  FEEDLINE_HOST_DEVICE jpeg_segment_reader(const jpeg_scan& scan, const jpeg_segment_tables& tables,
                                           const jpeg_scan_bits& bits)
      : tables_{tables},
        longer_{scan.tables},
        bits_{bits},
        units_{scan.frame},
        blocks_{scan.frame.mcus() * scan.frame.blocks()} {}

  /// Walks from a point on, up to the first code that begins at or after `end`.
  [[nodiscard]] FEEDLINE_HOST_DEVICE jpeg_segment_end walk(const jpeg_scan_point& from,
                                                           std::uint32_t end) const {
    jpeg_bit_reader reader{bits_, from.position};
    place at{from.unit, from.passed, 0};
    while (reader.position() < end) {
      const jpeg_code code = find(at, reader.peek());
      reader.skip(code.length() + code.bits());
      (void)pass(at, code);
    }
    return {point_of(reader, at), at.block};
  }

  /// Walks the same way, but not past the scan's last block or into a code that is cut off, and
  /// writes coefficients. The first one of a block is written as its difference from that of the
  /// block before.
  /// @param from The end of the segment before, with the number of blocks in all segments before
  ///             this one.
  FEEDLINE_HOST_DEVICE jpeg_segment_end write(const jpeg_segment_end& from, std::uint32_t end,
                                              const jpeg_coefficient_writer& coefficients) {
    jpeg_bit_reader reader{bits_, from.point.position};
    place at{from.point.unit, from.point.passed, from.blocks};
    jpeg_segment_writer writer{coefficients, at.block, at.passed};
    while (reader.position() < end && at.block < blocks_) {
      const std::uint32_t next = reader.peek();
      const std::uint32_t block = at.block;
      const jpeg_code code = find(at, next);
      if (reader.position() + code.length() + code.bits() > bits_.count) break;
      reader.skip(code.length() + code.bits());
      if (code.length() > 16) last_unknown_ = reader.position();
      const std::uint32_t passed = pass(at, code);
      if (code.bits() == 0) continue;
      writer.write(block, passed - 1, jpeg_value(next << code.length(), code.bits()));
    }
    writer.end();
    return {point_of(reader, at), at.block};
  }

  /// Where the last bits ended with which no code begins; 0: there were none.
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
    const bool is_dc = at.passed == 0;
    const std::uint32_t table = units_.table(at.unit, is_dc);
    const std::uint32_t found = tables_.codes[tables_.place_of(table, is_dc, next)];
    return {found != 0 ? found : longer_.table[table].find(next, tables_.bits(is_dc) + 1)};
  }
  /// @return Number of the block's coefficients that were passed afterwards, at least 1.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t pass(place& at, const jpeg_code& code) const {
    const std::uint32_t passed = at.passed == 0 ? 1 : at.passed + code.passed();
    at.passed = passed;
    if (passed >= jpeg_scan_step::all) {
      at.passed = 0;
      at.unit = units_.behind(at.unit);
      ++at.block;
    }
    return passed;
  }

  const jpeg_segment_tables& tables_;
  const jpeg_scan_tables& longer_;
  jpeg_scan_bits bits_;
  jpeg_units units_;
  std::uint32_t blocks_;  ///< number of blocks in the scan
  std::uint32_t last_unknown_ = 0;
};

}  // namespace feedline::detail
