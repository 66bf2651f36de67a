#pragma once

#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// The parts of a gzip file (RFC 1952) around its deflate stream.

/// After the stream: CRC-32, and the size of the content.
inline constexpr std::uint32_t gzip_end_bytes = 8;

/// Bytes of a gzip file's header, with its name and comment; 0: it has no such header, or is cut.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t gzip_header_bytes(const std::byte* from,
                                                                          std::uint32_t bytes) {
  constexpr std::uint32_t fixed_bytes = 10;
  const auto byte = [&](std::uint32_t at) { return static_cast<std::uint32_t>(from[at]); };
  if (bytes < fixed_bytes || byte(0) != 0x1F || byte(1) != 0x8B || byte(2) != 8) return 0;
  const std::uint32_t flags = byte(3);
  if ((flags & 0xE0U) != 0) return 0;
  std::uint32_t at = fixed_bytes;
  if ((flags & 4U) != 0) {  // extra fields, after their size
    if (bytes - at < 2) return 0;
    const std::uint32_t extra = byte(at) | byte(at + 1) << 8U;
    at += 2;
    if (extra > bytes - at) return 0;
    at += extra;
  }
  for (const std::uint32_t text : {8U, 16U}) {  // name and comment, each up to a zero
    if ((flags & text) == 0) continue;
    while (at < bytes && byte(at) != 0) ++at;
    if (at == bytes) return 0;
    ++at;
  }
  if ((flags & 2U) != 0) at = bytes - at < 2 ? bytes : at + 2;  // the header's checksum
  return at < bytes ? at : 0;
}

}  // namespace feedline::detail
