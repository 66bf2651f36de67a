#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// What may follow a scan, as libjpeg reads it. Tables (DHT, DQT, DAC) are passed over: libjpeg
// would look into them and warn of what it finds.

/// Passes a marker.
/// @param at Where it is to begin; then, where it ended.
/// @return Its second byte; 0: there is none.
FEEDLINE_HOST_DEVICE inline std::uint32_t next_jpeg_marker(const std::uint8_t* file,
                                                           std::uint32_t bytes, std::uint32_t& at) {
  if (at == bytes || file[at] != 0xFF) return 0;
  while (at < bytes && file[at] == 0xFF) ++at;
  return at == bytes ? 0 : file[at++];
}

/// Passes what belongs to a marker behind a scan. @return False if that may not stand there.
FEEDLINE_HOST_DEVICE inline bool skip_jpeg_segment(const std::uint8_t* file, std::uint32_t bytes,
                                                   std::uint32_t& at, std::uint32_t marker) {
  const bool is_table = marker == 0xC4 || marker == 0xCC || marker == 0xDB || marker == 0xDD;
  const bool is_other = (marker >= 0xE0 && marker <= 0xEF) || marker == 0xFE || marker == 0xDC;
  if ((!is_table && !is_other) || bytes - at < 2) return false;
  const std::uint32_t length = file[at] * 256U + file[at + 1];
  if (is_table && (length < 2 || (marker == 0xDD && length != 4))) return false;
  const std::uint32_t skipped = length < 2 ? 2 : length;
  if (skipped > bytes - at) return false;
  at += skipped;
  return true;
}

/// Whether a file ends properly behind a scan: with nothing before its end (EOI) but what libjpeg
/// skips.
/// @param at Behind the scan's last marker. @param marker That one.
FEEDLINE_HOST_DEVICE inline bool is_jpeg_end(const std::uint8_t* file, std::uint32_t bytes,
                                             std::uint32_t at, std::uint32_t marker) {
  for (; marker != 0; marker = next_jpeg_marker(file, bytes, at)) {
    if (marker == 0xD9) return true;
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7)) continue;
    if (!skip_jpeg_segment(file, bytes, at, marker)) return false;
  }
  return false;
}

}  // namespace feedline::detail
