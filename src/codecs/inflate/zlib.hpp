#pragma once

#include "codecs/inflate/inflate.hpp"
#include "codecs/lz/bits.hpp"
#include "codecs/lz/framed_blocks.hpp"
#include "codecs/team.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Streams of zlib (RFC 1950): two bytes of header, deflate, and a checksum of what was compressed.

/// Whether bytes are the header of a stream without a preset dictionary. @param from Two bytes.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline bool is_zlib_header(const std::byte* from) {
  const auto method = static_cast<std::uint32_t>(from[0]);
  const auto flags = static_cast<std::uint32_t>(from[1]);
  constexpr std::uint32_t deflate = 8;
  constexpr std::uint32_t max_window = 7;
  constexpr std::uint32_t dictionary = 0x20;
  return (method & 0xFU) == deflate && method >> 4U <= max_window &&
         (method << 8U | flags) % 31 == 0 && (flags & dictionary) == 0;
}

/// Adler-32, computed by a team. Its low half is 1 and the sum of the bytes. Its high half adds up
/// the low halves after each byte. Both are modulo 65521.
/// @param bytes Below 2^31: a thread's sums then fit in 64 bits.
template <class Team>
[[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t adler32_by(const std::byte* from,
                                                            std::uint32_t bytes) {
  constexpr std::uint32_t modulo = 65521;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  for (std::uint32_t i = Team::lane(); i < bytes; i += Team::width) {
    const auto byte = static_cast<std::uint32_t>(from[i]);
    first += byte;
    second += std::uint64_t{bytes - i} * byte;
  }
  const std::uint32_t low = (1 + Team::sum(static_cast<std::uint32_t>(first % modulo))) % modulo;
  const std::uint32_t high =
      (bytes % modulo + Team::sum(static_cast<std::uint32_t>(second % modulo))) % modulo;
  return high << 16U | low;
}

/// @return Whether a block's stream is complete, fills the room, and has the right checksum. Bytes
/// after the stream are ignored, as by zlib.
template <class Team>
FEEDLINE_HOST_DEVICE bool decode_zlib_block(inflate_tables& tables, const coded_block& block) {
  constexpr std::uint32_t header_bytes = 2;
  constexpr std::uint32_t sum_bytes = 4;
  if (block.bytes < header_bytes + sum_bytes) return false;
  // All threads find the same. They take one thread's answer, so that the compiler knows this: else
  // it makes them wait for each other after every branch of the decoder.
  if (Team::from(is_zlib_header(block.from) ? 1 : 0, 0) == 0) return false;
  const std::byte* const stream = block.from + header_bytes;
  const std::uint32_t bytes = block.bytes - header_bytes;
  inflater<Team> inflater{stream, bytes, block.to, block.room, tables};
  const inflated result = inflater.run();
  if (!result.good || bytes - result.bytes < sum_bytes) return false;
  return adler32_by<Team>(block.to, block.room) ==
         static_cast<std::uint32_t>(big_endian(stream + result.bytes, sum_bytes));
}

}  // namespace feedline::detail
