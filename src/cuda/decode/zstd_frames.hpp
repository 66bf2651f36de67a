#pragma once

#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// nvCOMP promises nothing of damaged streams. So what Zstandard's framing says of sizes is checked
// before (RFC 8878, 3.1.1): most damage by truncation and false sizes shows there.

inline constexpr std::uint32_t zstd_magic = 0xFD2FB528;
inline constexpr std::uint32_t zstd_max_block_bytes = 128 * 1024;

/// The number that `count` bytes are, the least one first.
FEEDLINE_HOST_DEVICE inline std::uint64_t number_at(const std::byte* bytes,
                                                    std::uint32_t count) noexcept {
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    number |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  return number;
}

/// Whether `bytes` bytes are one frame whose blocks fill it exactly, that needs no dictionary and,
/// if it says what it decodes to, says `decoded`. Reads nothing beyond.
FEEDLINE_HOST_DEVICE inline bool is_zstd_frame(const std::byte* stream, std::uint64_t bytes,
                                               std::uint64_t decoded) noexcept {
  if (bytes < 5 || number_at(stream, 4) != zstd_magic) return false;
  const auto descriptor = static_cast<std::uint32_t>(stream[4]);
  const bool is_single_segment = (descriptor & 0x20U) != 0;
  const bool has_checksum = (descriptor & 0x04U) != 0;
  if ((descriptor & 0x0BU) != 0) return false;  // reserved, or with a dictionary
  const std::uint32_t size_field = descriptor >> 6U;
  const std::uint32_t size_bytes = size_field == 0 ? (is_single_segment ? 1 : 0) : 1U << size_field;
  std::uint64_t at = 5 + (is_single_segment ? 0 : 1);
  if (bytes - 5 < (is_single_segment ? 0 : 1) + size_bytes) return false;
  if (size_bytes != 0) {
    const std::uint64_t said = number_at(stream + at, size_bytes) + (size_bytes == 2 ? 256 : 0);
    if (said != decoded) return false;
  }
  at += size_bytes;
  std::uint64_t plain = 0;  // decoded bytes of blocks that say how many
  for (;;) {
    if (bytes - at < 3) return false;
    const auto header = static_cast<std::uint32_t>(number_at(stream + at, 3));
    const std::uint32_t size = header >> 3U;
    const std::uint32_t kind = (header >> 1U) & 3U;  // raw, repeated, compressed, reserved
    if (kind == 3 || size > zstd_max_block_bytes) return false;
    if (kind < 2) plain += size;
    if (plain > decoded) return false;
    at += 3;
    const std::uint32_t stored = kind == 1 ? 1 : size;
    if (bytes - at < stored) return false;
    at += stored;
    if ((header & 1U) != 0) break;
  }
  return bytes - at == (has_checksum ? 4U : 0U);
}

}  // namespace feedline::detail
