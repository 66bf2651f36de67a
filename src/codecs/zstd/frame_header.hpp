#pragma once

#include "codecs/lz/bits.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Kind of frame that begins at a position (RFC 8878, section 3.1).
enum class zstd_frame_kind : std::uint8_t { none, data, skippable };

struct zstd_frame_header {
  zstd_frame_kind kind = zstd_frame_kind::none;
  bool has_checksum = false;
  bool has_size = false;
  std::uint32_t bytes = 0;  ///< size of the header, or of the whole frame if it is skippable
  std::uint32_t max_block_bytes = 0;
  std::uint64_t size = 0;  ///< decoded size
};

/// The largest block, both stored and decoded.
inline constexpr std::uint32_t max_zstd_block_bytes = 128 * 1024;

/// Reads a frame's header, with the limits of libzstd's decoder, which has no dictionary.
/// @param bytes Number of bytes left; a data frame needs at least 9: its header and a block's.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline zstd_frame_header read_zstd_frame_header(
    const std::byte* from, std::uint32_t bytes) {
  using std::uint32_t;
  constexpr uint32_t magic_bytes = 4;
  zstd_frame_header header;
  if (bytes < 5) return header;
  const auto magic = static_cast<uint32_t>(little_endian(from, magic_bytes));
  if ((magic & 0xFFFFFFF0U) == 0x184D2A50U) {
    if (bytes < 8) return header;
    const std::uint64_t size = 8 + little_endian(from + magic_bytes, 4);
    if (size > bytes) return header;
    header.kind = zstd_frame_kind::skippable;
    header.bytes = static_cast<uint32_t>(size);
    return header;
  }
  constexpr uint32_t block_header_bytes = 3;
  if (magic != 0xFD2FB528U || bytes < magic_bytes + 2 + block_header_bytes) return header;
  const auto flags = static_cast<uint32_t>(from[magic_bytes]);
  const bool is_single = (flags >> 5U & 1U) != 0;
  const uint32_t dictionary_bytes = (1U << (flags & 3U)) / 2;
  const uint32_t size_flag = flags >> 6U;
  const uint32_t size_bytes = size_flag == 0 ? (is_single ? 1 : 0) : 1U << size_flag;
  uint32_t at = magic_bytes + 1;
  header.bytes = at + (is_single ? 0 : 1) + dictionary_bytes + size_bytes;
  if (bytes < header.bytes + block_header_bytes || (flags & 8U) != 0) return header;

  std::uint64_t window = 0;
  if (!is_single) {
    const auto said = static_cast<uint32_t>(from[at++]);
    const uint32_t log = (said >> 3U) + 10;
    if (log > 31) return header;
    window = (std::uint64_t{8} + (said & 7U)) << (log - 3);
  }
  if (little_endian(from + at, dictionary_bytes) != 0) return header;
  header.size = little_endian(from + at + dictionary_bytes, size_bytes);
  if (size_flag == 1) header.size += 256;
  if (is_single) window = header.size;
  header.has_size = size_bytes != 0;
  header.has_checksum = (flags >> 2U & 1U) != 0;
  header.max_block_bytes =
      window < max_zstd_block_bytes ? static_cast<uint32_t>(window) : max_zstd_block_bytes;
  header.kind = zstd_frame_kind::data;
  return header;
}

}  // namespace feedline::detail
