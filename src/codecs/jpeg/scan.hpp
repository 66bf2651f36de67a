// Over 250 lines: the steps that decode a scan share the state of its bits.

#pragma once

#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/marker.hpp"
#include "codecs/jpeg/scan_end.hpp"
#include "codecs/jpeg/scan_tables.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Devices detect the damage that libjpeg-turbo warns about, like jpeg_reader with `allow_damaged ==
// false`. Whether libjpeg warns depends on how far it has read ahead: surplus bytes that it has
// already read are dropped silently. So this reader reads ahead as libjpeg does (jdhuff.c), in its
// "fast" way, which accepts invalid codes, and in its "slow" way, which warns.
//
// Stray bytes after a scan are accepted, although libjpeg warns about them. libjpeg also warns
// about the rest of a scan whose data is wrong and ends too early. That rest can be decoded, and
// stray bytes cannot: so this reader distinguishes the two, also for jpeg_reader.

/// Decodes a scan, and writes its coefficients. Reads nothing outside the file.
class jpeg_scan_reader {
 public:
  /// @param scan Its tables must be built.
  FEEDLINE_HOST_DEVICE jpeg_scan_reader(const jpeg_scan& scan,
                                        const jpeg_coefficient_writer& coefficients)
      : scan_{scan}, coefficients_{coefficients}, place_{.at = scan.frame.scan} {}

  /// Whether the scan is complete.
  FEEDLINE_HOST_DEVICE bool is_whole() {
    const std::uint32_t fast_bytes = max_jpeg_block_bytes * scan_.frame.blocks();
    std::uint32_t to_restart = scan_.frame.restart_interval;
    for (std::uint32_t left = scan_.frame.mcus(); left > 0; --left) {
      if (scan_.frame.restart_interval != 0) {
        if (to_restart == 0) {
          if (!restart()) return false;
          to_restart = scan_.frame.restart_interval;
        }
        --to_restart;
      } else if (marker_ == 0 && scan_.bytes - place_.at >= fast_bytes) {
        const place before = place_;
        is_marker_near_ = false;
        if (mcu<true>() && !is_marker_near_) continue;
        place_ = before;  // written coefficients stay, as in libjpeg
      }
      if (!mcu<false>()) return false;
    }
    return is_end();
  }

  /// Reads one interval of a scan with restart markers, and what follows it: the next marker, or
  /// the file's end.
  /// @param number Index of the interval. @param at Offset at which it begins.
  /// @return Whether all of it is undamaged, provided that no earlier interval discarded bytes.
  FEEDLINE_HOST_DEVICE bool is_interval_whole(std::uint32_t number, std::uint32_t at) {
    const std::uint32_t before = number * scan_.frame.restart_interval;
    const std::uint32_t left = scan_.frame.mcus() - before;
    place_ = {.at = at, .block = before * scan_.frame.blocks()};
    marker_ = 0;
    restarts_ = number;
    has_discarded_ = false;
    has_sought_ = false;
    const bool is_last = left <= scan_.frame.restart_interval;
    for (std::uint32_t i = is_last ? left : scan_.frame.restart_interval; i > 0; --i)
      if (!mcu<false>()) return false;
    return is_last ? is_end() : restart();
  }
  /// Whether bytes at the interval's end were discarded. libjpeg warns about them when it next
  /// looks for a marker, which may be after a later interval.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool has_discarded() const { return has_discarded_; }
  /// Whether a marker was looked for.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool has_sought_marker() const { return has_sought_; }

 private:
  /// The state of the reader. Bits that were read but not yet decoded are the lowest of the buffer.
  struct place {
    std::uint64_t buffer = 0;
    std::uint32_t ready = 0;  ///< bits
    std::uint32_t at = 0;     ///< offset in the file of the next byte to read
    std::uint32_t block = 0;  ///< next block to decode
    std::int32_t dc[3] = {};  ///< for each component, the first coefficient of the block before
  };

  /// Reads ahead as far as there is room. @return False if the file ends.
  FEEDLINE_HOST_DEVICE bool fill() {
    while (place_.ready <= 56 && marker_ == 0) {
      if (place_.at == scan_.bytes) return false;
      const std::uint32_t byte = scan_.file[place_.at++];
      if (byte == 0xFF) {
        std::uint32_t next = 0xFF;
        while (next == 0xFF) {
          if (place_.at == scan_.bytes) return false;
          next = scan_.file[place_.at++];
        }
        marker_ = next;
        if (next != 0) return true;
      }
      push(byte);
    }
    return true;
  }
  /// Reads six bytes; at a marker it continues with zeros.
  FEEDLINE_HOST_DEVICE void fill_fast() {
    std::uint64_t six = 0;
    bool is_plain = true;
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::uint32_t byte = scan_.file[place_.at + i];
      six = six << 8U | byte;
      is_plain &= byte != 0xFF;
    }
    if (is_plain) {  // most are plain: these loads do not wait for each other
      place_.buffer = place_.buffer << 48U | six;
      place_.ready += 48;
      place_.at += 6;
      return;
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::uint32_t byte = scan_.file[place_.at];
      const bool is_marker = byte == 0xFF && scan_.file[place_.at + 1] != 0;
      if (is_marker) is_marker_near_ = true;
      if (!is_marker) place_.at += byte == 0xFF ? 2 : 1;
      push(is_marker ? 0 : byte);
    }
  }
  FEEDLINE_HOST_DEVICE void push(std::uint32_t byte) {
    place_.buffer = place_.buffer << 8U | byte;
    place_.ready += 8;
  }
  /// Makes this many bits ready, 15 at most.
  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool need(std::uint32_t bits) {
    if constexpr (Fast) {
      if (place_.ready <= 16) fill_fast();
      return true;
    } else {
      return place_.ready >= bits || (fill() && place_.ready >= bits);
    }
  }
  FEEDLINE_HOST_DEVICE std::int32_t take(std::uint32_t bits) {
    place_.ready -= bits;
    return static_cast<std::int32_t>(place_.buffer >> place_.ready & ((1U << bits) - 1U));
  }

  /// Takes the next code.
  /// @return Its `jpeg_scan_step`; 0 if there is no such code.
  template <bool Fast>
  FEEDLINE_HOST_DEVICE std::uint32_t next_step(const jpeg_scan_table& table) {
    constexpr std::uint32_t fast_bits = jpeg_scan_table::fast_bits;
    constexpr std::uint32_t step_bits = jpeg_scan_table::step_bits;
    if (Fast ? !need<Fast>(fast_bits) : place_.ready < fast_bits && !fill()) return 0;
    std::uint32_t length = 1;
    if (place_.ready >= fast_bits) {
      const std::uint32_t found =
          table.fast[place_.buffer >> (place_.ready - fast_bits) & ((1U << fast_bits) - 1U)];
      if (found != 0) {
        place_.ready -= found >> step_bits;
        return found & ((1U << step_bits) - 1U);
      }
      length = fast_bits + 1;
    }
    if (!Fast && !need<Fast>(length)) return 0;
    std::int32_t code = take(length);
    for (; code > table.last[length]; ++length) {
      if (!Fast && !need<Fast>(1)) return 0;
      code = code * 2 + take(1);
    }
    if (length > 16) return Fast ? jpeg_scan_step::of(0) : 0;
    return table.steps[code + table.offset[length]];
  }

  /// Takes the bits after a code. @param value The number that they represent.
  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool take_value(std::uint32_t bits, std::int32_t& value) {
    value = 0;
    if (bits == 0) return true;
    if (!need<Fast>(bits)) return false;
    value = jpeg_value(static_cast<std::uint32_t>(take(bits)) << (32 - bits), bits);
    return true;
  }

  /// Decodes a block. Like libjpeg, it accepts more than 64 coefficients.
  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool block(std::uint32_t component) {
    const jpeg_scan_table& ac = scan_.tables.table[2 + scan_.frame.tables[component].ac];
    const std::uint32_t first =
        next_step<Fast>(scan_.tables.table[scan_.frame.tables[component].dc]);
    std::int32_t value = 0;
    if (first == 0 || !take_value<Fast>(jpeg_scan_step::bits(first), value)) return false;
    coefficients_.write(place_.block, 0, place_.dc[component] += value);
    for (std::uint32_t passed = 1; passed < jpeg_scan_step::all;) {
      const std::uint32_t step = next_step<Fast>(ac);
      if (step == 0 || !take_value<Fast>(jpeg_scan_step::bits(step), value)) return false;
      passed += jpeg_scan_step::passed(step);
      if (value != 0) coefficients_.write(place_.block, passed - 1, value);
    }
    ++place_.block;
    return true;
  }

  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool mcu() {
    for (std::uint32_t i = 0; i < scan_.frame.components; ++i)
      for (std::uint32_t left = i == 0 ? scan_.frame.luma_blocks() : 1; left > 0; --left)
        if (!block<Fast>(i)) return false;
    return true;
  }

  FEEDLINE_HOST_DEVICE bool restart() {
    // libjpeg warns about these bytes when it looks for a marker, but not if it already has one.
    if (place_.ready >= 8) has_discarded_ = true;
    place_.ready = 0;
    if (marker_ == 0 && !seek_restart()) return false;
    if (marker_ != 0xD0 + restarts_ % 8) return false;
    marker_ = 0;
    ++restarts_;
    for (std::int32_t& each : place_.dc) each = 0;
    return true;
  }
  FEEDLINE_HOST_DEVICE bool is_end() {
    if (marker_ == 0) {
      if (are_bytes_left() && is_data_left()) return false;
      has_sought_ = true;
      if (has_discarded_) return false;
    }
    return is_jpeg_end(scan_.file, scan_.bytes, place_.at, marker_);
  }
  /// Whether there are unread bytes between the scan and the next marker.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool are_bytes_left() const {
    std::uint32_t at = place_.at;
    return next_jpeg_marker(scan_.file, scan_.bytes, at) == 0;
  }
  /// Whether the remaining bytes are MCUs, and nothing else. Then they belong to the scan, and some
  /// MCUs before them are wrong. Stray bytes do not happen to decode to MCUs that end where they
  /// end.
  FEEDLINE_HOST_DEVICE bool is_data_left() {
    const place end = place_;
    bool is_data = mcu<false>();
    while (is_data && !is_padding()) is_data = mcu<false>();
    place_ = end;
    marker_ = 0;
    return is_data;
  }
  /// Whether only the ones are left that pad a scan's last byte.
  FEEDLINE_HOST_DEVICE bool is_padding() {
    fill();
    const std::uint64_t ones = (1U << place_.ready % 8) - 1U;
    return marker_ != 0 && place_.ready < 8 && (place_.buffer & ones) == ones;
  }
  FEEDLINE_HOST_DEVICE bool seek_restart() {
    has_sought_ = true;
    if (has_discarded_) return false;
    marker_ = next_jpeg_marker(scan_.file, scan_.bytes, place_.at);
    return marker_ != 0;
  }

  jpeg_scan scan_;
  jpeg_coefficient_writer coefficients_;
  place place_;
  std::uint32_t marker_ = 0;  ///< marker that was read ahead; nothing after it was read. 0: none
  std::uint32_t restarts_ = 0;
  bool has_discarded_ = false;
  bool has_sought_ = false;
  bool is_marker_near_ = false;  ///< or bytes of ones before data, which the slow way accepts
};

}  // namespace feedline::detail
