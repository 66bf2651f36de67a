#pragma once

#include "codecs/jpeg/marker.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// The parts of a file that may follow a scan, as libjpeg reads them for jpeg_reader. Tables (DHT,
// DQT, DAC) are skipped, although libjpeg would read them and might warn. Stray bytes, which belong
// to no marker, are skipped too, unless a restart marker follows: that belongs to a scan.

/// Skips the segment of a marker after a scan. @return False if it is not allowed there.
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

/// Whether a file ends properly after a scan.
/// @param at Offset at which to continue. @param marker The marker that ends there; 0 if there is
///           none.
FEEDLINE_HOST_DEVICE inline bool is_jpeg_end(const std::uint8_t* file, std::uint32_t bytes,
                                             std::uint32_t at, std::uint32_t marker) {
  for (;; marker = 0) {
    if (marker == 0) {
      const sought_jpeg_marker next = seek_jpeg_marker(file, bytes, at);
      if (next.has_stray_bytes && is_jpeg_restart(next.marker)) return false;
      marker = next.marker;
    }
    if (marker == 0xD9) return true;
    if (marker == 0x01 || is_jpeg_restart(marker)) continue;
    if (!skip_jpeg_segment(file, bytes, at, marker)) return false;  // none that may follow
  }
}

}  // namespace feedline::detail
