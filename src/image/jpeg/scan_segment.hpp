#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/coefficients.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan_tables.hpp"

#include <cstdint>

namespace feedline::detail {

// A segment is a part of a scan that is decoded by itself. Positions count a scan's bits, stuffed
// zeros left out.

/// Where in a scan a decoder stands between two codes.
struct jpeg_scan_point {
  std::uint32_t position = 0;  ///< bits
  std::uint16_t unit = 0;      ///< block of the MCU
  std::uint16_t passed = 0;    ///< coefficients of the block

  friend FEEDLINE_HOST_DEVICE constexpr bool operator==(const jpeg_scan_point& a,
                                                        const jpeg_scan_point& b) {
    return a.position == b.position && a.unit == b.unit && a.passed == b.passed;
  }
};

/// A byte of the file, and the position of its first bit.
struct jpeg_scan_anchor {
  std::uint32_t at = 0;
  std::uint32_t position = 0;
};

/// Where a segment's decoding ended.
struct jpeg_segment_end {
  jpeg_scan_point point;
  std::uint32_t blocks = 0;     ///< that it came to the end of
  std::uint32_t last_need = 0;  ///< the position at which a serial reader last asked for bits
  std::int32_t dc[3] = {};      ///< the differences of each component's first coefficients, summed
};

/// Decodes a segment. Reads up to 16 bytes behind what it is told to decode.
///
/// @tparam Coefficients `no_jpeg_coefficients` or `jpeg_coefficient_writer`.
template <class Coefficients>
class jpeg_segment_reader {
 public:
  FEEDLINE_HOST_DEVICE jpeg_segment_reader(const jpeg_scan& scan, const Coefficients& coefficients)
      : scan_{scan}, coefficients_{coefficients} {}

  /// Decodes from a point on, up to the first code that begins at `end` or behind it; if
  /// `to_mcu`, on to the first MCU that does.
  /// @param anchor At most some bytes before the point.
  /// @param from   Where the decoding before it ended, whose sums go on; coefficients are written
  ///               to the blocks behind its.
  FEEDLINE_HOST_DEVICE jpeg_segment_end run(const jpeg_scan_anchor& anchor,
                                            const jpeg_segment_end& from, std::uint32_t end,
                                            bool to_mcu) {
    jpeg_segment_end result = from;
    jpeg_scan_point& point = result.point;
    seek(anchor, from.point.position);
    enter(point.unit);
    while (position() < end || (to_mcu && (point.unit != 0 || point.passed != 0))) step(result);
    point.position = position();
    return result;
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t position() const { return read_ - ready_; }

  FEEDLINE_HOST_DEVICE void seek(const jpeg_scan_anchor& anchor, std::uint32_t position) {
    at_ = anchor.at;
    read_ = anchor.position;
    buffer_ = 0;
    ready_ = 0;
    while (read_ + 8 <= position) {
      (void)next_byte();
      read_ += 8;
    }
    fill();
    ready_ -= position - (read_ - ready_);
  }
  FEEDLINE_HOST_DEVICE std::uint32_t next_byte() {
    const std::uint32_t byte = scan_.file[at_++];
    if (byte == 0xFF) ++at_;
    return byte;
  }
  /// Has at least 32 bits ready: no code and its value have more.
  FEEDLINE_HOST_DEVICE void fill() {
    if (ready_ > 32) return;
    std::uint32_t four = 0;
    bool is_plain = true;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t byte = scan_.file[at_ + i];
      four = four << 8U | byte;
      is_plain &= byte != 0xFF;
    }
    if (is_plain) {  // which most are: loads that do not wait for each other
      at_ += 4;
    } else {
      for (std::uint32_t i = 0; i < 4; ++i) four = four << 8U | next_byte();
    }
    buffer_ = buffer_ << 32U | four;
    ready_ += 32;
    read_ += 32;
  }
  FEEDLINE_HOST_DEVICE std::uint32_t take(std::uint32_t bits) {
    ready_ -= bits;
    return static_cast<std::uint32_t>(buffer_ >> ready_) & ((1U << bits) - 1U);
  }
  FEEDLINE_HOST_DEVICE std::uint32_t next_step(const jpeg_scan_table& table) {
    constexpr std::uint32_t fast_bits = jpeg_scan_table::fast_bits;
    constexpr std::uint32_t step_bits = jpeg_scan_table::step_bits;
    const std::uint32_t found =
        table.fast[buffer_ >> (ready_ - fast_bits) & ((1U << fast_bits) - 1U)];
    if (found != 0) {
      ready_ -= found >> step_bits;
      return found & ((1U << step_bits) - 1U);
    }
    std::uint32_t length = fast_bits + 1;
    auto code = static_cast<std::int32_t>(take(length));
    for (; code > table.last[length]; ++length)
      code = code * 2 + static_cast<std::int32_t>(take(1));
    if (length > 16) return jpeg_scan_step::of(0);
    return table.steps[code + table.offset[length]];
  }
  /// Has the tables of a block of the MCU at hand.
  FEEDLINE_HOST_DEVICE void enter(std::uint32_t unit) {
    component_ = unit < scan_.frame.luma_blocks() ? 0 : unit - scan_.frame.luma_blocks() + 1;
    dc_ = &scan_.tables.dc[scan_.frame.tables[component_].dc];
    ac_ = &scan_.tables.ac[scan_.frame.tables[component_].ac];
  }
  FEEDLINE_HOST_DEVICE void step(jpeg_segment_end& result) {
    jpeg_scan_point& point = result.point;
    const bool is_dc = point.passed == 0;
    fill();
    result.last_need = position();
    const std::uint32_t step = next_step(is_dc ? *dc_ : *ac_);
    const std::uint32_t bits = jpeg_scan_step::bits(step);
    const std::uint32_t passed = is_dc ? 1 : point.passed + jpeg_scan_step::passed(step);
    if (bits != 0) result.last_need = position();
    if constexpr (Coefficients::takes) {
      if (bits != 0 || is_dc) {
        std::int32_t value = bits == 0 ? 0 : jpeg_value(take(bits), bits);
        if (is_dc) value = result.dc[component_] += value;
        coefficients_.write(result.blocks, component_, passed - 1, value);
      }
    } else {
      ready_ -= bits;
    }
    if (passed < jpeg_scan_step::all) {
      point.passed = static_cast<std::uint16_t>(passed);
      return;
    }
    point.passed = 0;
    point.unit =
        static_cast<std::uint16_t>(point.unit + 1U == scan_.frame.blocks() ? 0 : point.unit + 1U);
    enter(point.unit);
    ++result.blocks;
  }

  jpeg_scan scan_;
  Coefficients coefficients_;
  std::uint32_t component_ = 0;
  const jpeg_scan_table* dc_ = nullptr;
  const jpeg_scan_table* ac_ = nullptr;
  std::uint64_t buffer_ = 0;
  std::uint32_t ready_ = 0;
  std::uint32_t at_ = 0;
  std::uint32_t read_ = 0;  ///< position of the byte at `at_`
};

}  // namespace feedline::detail
