#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// Reads a marker.
/// @param at Where it must begin; afterwards, where it ended.
/// @return Its second byte; 0 if there is none.
FEEDLINE_HOST_DEVICE inline std::uint32_t next_jpeg_marker(const std::uint8_t* file,
                                                           std::uint32_t bytes, std::uint32_t& at) {
  if (at == bytes || file[at] != 0xFF) return 0;
  while (at < bytes && file[at] == 0xFF) ++at;
  return at == bytes ? 0 : file[at++];
}

[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr bool is_jpeg_restart(std::uint32_t marker) {
  return marker >= 0xD0 && marker <= 0xD7;
}

/// The result of a search for a marker.
struct sought_jpeg_marker {
  std::uint32_t marker;  ///< its second byte; 0: the file ends
  bool has_stray_bytes;  ///< whether bytes that belong to no marker were skipped before it
};

/// Skips stray bytes, including stuffed zeros, and the marker after them, as libjpeg does.
/// @param at Where to begin; afterwards, where the marker ended.
FEEDLINE_HOST_DEVICE inline sought_jpeg_marker seek_jpeg_marker(const std::uint8_t* file,
                                                                std::uint32_t bytes,
                                                                std::uint32_t& at) {
  sought_jpeg_marker found{next_jpeg_marker(file, bytes, at), false};
  while (found.marker == 0 && at < bytes) {
    found.has_stray_bytes = true;
    while (at < bytes && file[at] != 0xFF) ++at;
    found.marker = next_jpeg_marker(file, bytes, at);
  }
  return found;
}

}  // namespace feedline::detail
