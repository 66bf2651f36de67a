#pragma once

#include "codecs/lz/bits.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// How a block's literals are stored (RFC 8878, section 3.1.1.3.1).
enum class literals_kind : std::uint8_t { plain, one, coded, coded_as_before };

struct literals_header {
  literals_kind kind = literals_kind::plain;
  std::uint32_t streams = 1;
  std::uint32_t header_bytes = 0;  ///< 0: the header is invalid
  std::uint32_t bytes = 0;         ///< bytes that are stored after it
  std::uint32_t count = 0;
};

/// @param bytes Bytes of the block. The stored literals fit in them.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline literals_header read_literals_header(
    const std::byte* from, std::uint32_t bytes) {
  literals_header header;
  if (bytes < 2) return header;
  const auto first = static_cast<std::uint32_t>(from[0]);
  const std::uint32_t format = first >> 2U & 3U;
  header.kind = static_cast<literals_kind>(first & 3U);
  std::uint32_t header_bytes = 0;
  if (header.kind == literals_kind::plain || header.kind == literals_kind::one) {
    header_bytes = format % 2 == 0 ? 1 : format == 1 ? 2 : 3;
    if (bytes < header_bytes) return header;
    const auto said = static_cast<std::uint32_t>(little_endian(from, header_bytes));
    header.count = format % 2 == 0 ? said >> 3U : said >> 4U;
    header.bytes = header.kind == literals_kind::plain ? header.count : 1;
  } else {
    header_bytes = format < 2 ? 3 : format == 2 ? 4 : 5;
    if (bytes < 5) return header;  // libzstd requires this, too
    const std::uint32_t bits = format < 2 ? 10 : format == 2 ? 14 : 18;
    const std::uint64_t said = little_endian(from, header_bytes) >> 4U;
    header.streams = format == 0 ? 1 : 4;
    header.count = low_bits(static_cast<std::uint32_t>(said), bits);
    header.bytes = static_cast<std::uint32_t>(said >> bits);
    constexpr std::uint32_t min_of_four_streams = 6;
    if (header.streams == 4 && header.count < min_of_four_streams) return header;
  }
  if (header.bytes <= bytes - header_bytes) header.header_bytes = header_bytes;
  return header;
}

}  // namespace feedline::detail
