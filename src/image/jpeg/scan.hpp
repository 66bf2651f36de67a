#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan_end.hpp"
#include "image/jpeg/scan_tables.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Decoders of JPEG on devices do not say that a file is damaged. This does: it decodes the Huffman
// codes of a scan, but no pixels, and knows of damage what libjpeg-turbo warns of, as jpeg_reader
// does with `allow_damaged == false`. That depends on how far libjpeg has read ahead: bytes that
// are too many are lost without a word where it had them already. So this reads ahead as it does
// (jdhuff.c, with a buffer of 64 bits), by its "fast" way, which takes codes that mean nothing, and
// its "slow" one, which warns.

/// Walks a scan. Reads nothing outside the file.
class jpeg_scan_reader {
 public:
  FEEDLINE_HOST_DEVICE jpeg_scan_reader(const std::uint8_t* file, std::uint32_t bytes,
                                        const jpeg_frame& frame, jpeg_scan_tables& tables)
      : file_{file}, bytes_{bytes}, frame_{frame}, tables_{tables}, place_{.at = frame.scan} {}

  /// Bits that were read and not yet decoded are the lowest of the buffer.
  struct place {
    std::uint64_t buffer = 0;
    std::uint32_t ready = 0;  ///< bits
    std::uint32_t at = 0;     ///< byte of the file that is read next
  };

  /// Each block of a large enough rest lies in it, whatever its codes: 1,666 bits, 418 bytes at
  /// most with stuffing, and what is read ahead.
  static constexpr std::uint32_t most_block_bytes = 512;

  /// Makes the tables ready. First of all.
  FEEDLINE_HOST_DEVICE void build_tables() {
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (frame_.huffman[i] != 0) build(tables_.dc[i], file_ + frame_.huffman[i]);
      if (frame_.huffman[2 + i] != 0) build(tables_.ac[i], file_ + frame_.huffman[2 + i]);
    }
  }

  /// Whether the scan is whole.
  FEEDLINE_HOST_DEVICE bool is_whole() { return is_rest_whole(place_, mcus()); }

  /// The same, from an MCU on. @param from Where that begins. @param left MCUs.
  FEEDLINE_HOST_DEVICE bool is_rest_whole(const place& from, std::uint32_t left) {
    place_ = from;
    const std::uint32_t fast_bytes = most_block_bytes * blocks();
    std::uint32_t to_restart = frame_.restart_interval;
    for (; left > 0; --left) {
      if (frame_.restart_interval != 0) {
        if (to_restart == 0) {
          if (!restart()) return false;
          to_restart = frame_.restart_interval;
        }
        --to_restart;
      } else if (marker_ == 0 && bytes_ - place_.at >= fast_bytes) {
        const place before = place_;
        if (mcu<true>()) continue;
        place_ = before;  // a marker is near
      }
      if (!mcu<false>()) return false;
    }
    if (marker_ == 0 && !next_marker()) return false;
    return is_jpeg_end(file_, bytes_, place_.at, marker_);
  }

  /// Of an MCU.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t blocks() const {
    return luma_blocks() + frame_.components - 1;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t mcus() const {
    const std::uint32_t width = 8U * frame_.luma_across;
    const std::uint32_t height = 8U * frame_.luma_down;
    return ((frame_.width + width - 1) / width) * ((frame_.height + height - 1) / height);
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t luma_blocks() const {
    return std::uint32_t{frame_.luma_across} * frame_.luma_down;
  }

  /// Reads as far ahead as there is room. @return False if the file ends.
  FEEDLINE_HOST_DEVICE bool fill() {
    while (place_.ready <= 56 && marker_ == 0) {
      if (place_.at == bytes_) return false;
      const std::uint32_t byte = file_[place_.at++];
      if (byte == 0xFF) {
        std::uint32_t next = 0xFF;
        while (next == 0xFF) {
          if (place_.at == bytes_) return false;
          next = file_[place_.at++];
        }
        marker_ = next;
        if (next != 0) return true;
      }
      push(byte);
    }
    return true;
  }
  /// @return False at a marker.
  FEEDLINE_HOST_DEVICE bool fill_fast() {
    std::uint64_t six = 0;
    bool is_plain = true;
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::uint32_t byte = file_[place_.at + i];
      six = six << 8U | byte;
      is_plain &= byte != 0xFF;
    }
    if (is_plain) {  // which most are: loads that do not wait for each other
      place_ = {place_.buffer << 48U | six, place_.ready + 48, place_.at + 6};
      return true;
    }
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::uint32_t byte = file_[place_.at++];
      if (byte == 0xFF && file_[place_.at++] != 0) return false;
      push(byte);
    }
    return true;
  }
  FEEDLINE_HOST_DEVICE void push(std::uint32_t byte) {
    place_.buffer = place_.buffer << 8U | byte;
    place_.ready += 8;
  }
  /// Has so many bits ready, 15 at most.
  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool need(std::uint32_t bits) {
    if constexpr (Fast)
      return place_.ready > 16 || fill_fast();
    else
      return place_.ready >= bits || (fill() && place_.ready >= bits);
  }
  FEEDLINE_HOST_DEVICE std::int32_t take(std::uint32_t bits) {
    place_.ready -= bits;
    return static_cast<std::int32_t>(place_.buffer >> place_.ready & ((1U << bits) - 1U));
  }

  /// Takes the next code.
  /// @return Its `jpeg_scan_step`; 0: there is none, or, the fast way, a marker is near.
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

  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool skip(std::uint32_t bits) {
    if (bits == 0) return true;
    if (!need<Fast>(bits)) return false;
    place_.ready -= bits;
    return true;
  }

  /// Decodes a block. libjpeg does not mind if it has more than 64 coefficients.
  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool block(const jpeg_scan_table& dc, const jpeg_scan_table& ac) {
    const std::uint32_t first = next_step<Fast>(dc);
    if (first == 0 || !skip<Fast>(jpeg_scan_step::bits(first))) return false;
    for (std::uint32_t passed = 1; passed < jpeg_scan_step::all;) {
      const std::uint32_t step = next_step<Fast>(ac);
      if (step == 0 || !skip<Fast>(jpeg_scan_step::bits(step))) return false;
      passed += jpeg_scan_step::passed(step);
    }
    return true;
  }

  template <bool Fast>
  FEEDLINE_HOST_DEVICE bool mcu() {
    for (std::uint32_t i = 0; i < frame_.components; ++i) {
      const jpeg_scan_table& dc = tables_.dc[frame_.tables[i].dc];
      const jpeg_scan_table& ac = tables_.ac[frame_.tables[i].ac];
      for (std::uint32_t left = i == 0 ? luma_blocks() : 1; left > 0; --left)
        if (!block<Fast>(dc, ac)) return false;
    }
    return true;
  }

  FEEDLINE_HOST_DEVICE bool restart() {
    // libjpeg warns of these bytes when it looks for a marker, not if it has one.
    if (place_.ready >= 8) has_discarded_ = true;
    place_.ready = 0;
    if (marker_ == 0 && !next_marker()) return false;
    if (marker_ != 0xD0 + restarts_ % 8) return false;
    marker_ = 0;
    ++restarts_;
    return true;
  }
  FEEDLINE_HOST_DEVICE bool next_marker() {
    if (has_discarded_) return false;
    marker_ = next_jpeg_marker(file_, bytes_, place_.at);
    return marker_ != 0;
  }

  const std::uint8_t* file_;
  std::uint32_t bytes_;
  const jpeg_frame& frame_;
  jpeg_scan_tables& tables_;
  place place_;
  std::uint32_t marker_ = 0;  ///< that was read ahead; nothing behind it was. 0: none
  std::uint32_t restarts_ = 0;
  bool has_discarded_ = false;  ///< bytes before a restart marker, of which libjpeg will warn
};

/// Whether a file's scan is whole, as libjpeg would take without a warning. Works on host and
/// device; a file takes as long as libjpeg takes to decode its codes.
/// @param frame What `read_jpeg_frame` said of these bytes.
FEEDLINE_HOST_DEVICE inline bool is_whole_jpeg_scan(const std::uint8_t* file, std::size_t bytes,
                                                    const jpeg_frame& frame,
                                                    jpeg_scan_tables& tables) noexcept {
  jpeg_scan_reader reader{file, static_cast<std::uint32_t>(bytes), frame, tables};
  reader.build_tables();
  return reader.is_whole();
}

}  // namespace feedline::detail
