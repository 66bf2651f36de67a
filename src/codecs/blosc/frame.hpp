#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/lz/copy.hpp"
#include "codecs/lz/framed_blocks.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Frames of Blosc 1 (c-blosc's README_CHUNK_FORMAT.rst): a header, the offset of each block, and
// the blocks. A block is one compressed stream, or one for each byte of an element; each is
// preceded by its size. All numbers have their lowest byte first.
//
// For any stored bytes, nothing is read but them, and nothing is written outside the room.

/// Compressor of a frame's streams, by its number in the header.
enum class blosc_compressor : std::uint8_t { blosclz, lz4, snappy, zlib, zstd };

/// Order of a block's elements before compression.
enum class blosc_shuffle : std::uint8_t { none, bytes, bits };

/// A frame's header.
struct blosc_frame {
  static constexpr std::uint32_t header_bytes = 16;

  bool good = false;       ///< it is one of format 2, and describes the room
  bool is_copied = false;  ///< the bytes after the header are neither compressed nor shuffled
  blosc_compressor compressor = blosc_compressor::blosclz;
  blosc_shuffle shuffle = blosc_shuffle::none;
  bool may_split = false;
  std::uint32_t element_bytes = 1;
  std::uint32_t block_bytes = 1;  ///< decoded bytes of each block but the last
  std::uint32_t blocks = 0;
  std::uint32_t stored_bytes = 0;  ///< size of the whole frame
};

/// @param frame Its room is not 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline blosc_frame read_blosc_frame(const coded_block& frame) {
  using std::uint32_t;
  blosc_frame read;
  if (frame.bytes < blosc_frame::header_bytes) return read;
  const auto number = [&](uint32_t at) {
    return static_cast<uint32_t>(little_endian(frame.from + at, 4));
  };
  constexpr uint32_t format = 2;
  const auto flags = static_cast<uint32_t>(frame.from[2]);
  read.compressor = static_cast<blosc_compressor>(flags >> 5U);
  read.is_copied = (flags & 2U) != 0;
  read.may_split = (flags & 0x10U) == 0;
  read.element_bytes = static_cast<uint32_t>(frame.from[3]);
  read.block_bytes = number(8);
  read.stored_bytes = number(12);
  if ((flags & 1U) != 0 && read.element_bytes > 1)
    read.shuffle = blosc_shuffle::bytes;
  else if ((flags & 4U) != 0)
    read.shuffle = blosc_shuffle::bits;
  if (static_cast<uint32_t>(frame.from[0]) != format || (flags & 8U) != 0 ||
      number(4) != frame.room || read.element_bytes == 0 || read.block_bytes == 0 ||
      read.stored_bytes > frame.bytes)
    return read;
  if (read.is_copied) {
    read.shuffle = blosc_shuffle::none;
    read.good = read.stored_bytes - blosc_frame::header_bytes == frame.room &&
                read.stored_bytes >= blosc_frame::header_bytes;
    return read;
  }
  read.blocks = frame.room / read.block_bytes + (frame.room % read.block_bytes != 0 ? 1 : 0);
  read.good = read.stored_bytes >= blosc_frame::header_bytes &&
              read.blocks <= (read.stored_bytes - blosc_frame::header_bytes) / 4;
  return read;
}

/// Number of streams of a block; all have the same number of decoded bytes.
/// @param bytes Decoded bytes of the block.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t blosc_streams(const blosc_frame& frame,
                                                                      std::uint32_t bytes) {
  constexpr std::uint32_t most = 16;
  constexpr std::uint32_t least_bytes = 128;
  const bool is_split = frame.may_split && frame.element_bytes <= most &&
                        bytes / frame.element_bytes >= least_bytes && bytes == frame.block_bytes;
  return is_split ? frame.element_bytes : 1;
}

/// Decodes a share of a frame's streams: elements stay shuffled.
/// @param decode Decodes a stream: `bool(coded_block)`; only called if `frame.compressor` is
///               `compressor`.
/// @return Whether the share's streams are there, and `decode` returned true for each. It says
/// nothing about streams of other shares.
template <class Warp, class Decode>
FEEDLINE_HOST_DEVICE bool decode_blosc_streams(Warp& warp, const blosc_frame& frame,
                                               const coded_block& whole, block_share share,
                                               blosc_compressor compressor, Decode decode) {
  using std::uint32_t;
  constexpr uint32_t size_bytes = 4;
  if (!frame.good) return false;
  if (frame.is_copied) {
    if (share.first == 0)
      copy_bytes_by(warp, whole.to, whole.from + blosc_frame::header_bytes, whole.room);
    return true;
  }
  if (frame.compressor != compressor) return false;
  const uint32_t first_block = blosc_frame::header_bytes + size_bytes * frame.blocks;
  uint32_t before = share.first;  // number of streams before the share's next one
  for (uint32_t i = 0; i < frame.blocks; ++i) {
    const uint32_t begin = i * frame.block_bytes;
    const uint32_t left = whole.room - begin;
    const uint32_t bytes = left < frame.block_bytes ? left : frame.block_bytes;
    const uint32_t streams = blosc_streams(frame, bytes);
    if (before >= streams) {  // none of this block's
      before -= streams;
      continue;
    }
    const uint32_t room = bytes / streams;
    auto at = static_cast<uint32_t>(
        little_endian(whole.from + blosc_frame::header_bytes + size_bytes * i, size_bytes));
    if (at < first_block || bytes % streams != 0) return false;
    for (uint32_t stream = 0; stream < streams; ++stream) {
      if (at > frame.stored_bytes || frame.stored_bytes - at < size_bytes) return false;
      const auto stored = static_cast<uint32_t>(little_endian(whole.from + at, size_bytes));
      at += size_bytes;
      if (stored > frame.stored_bytes - at) return false;
      if (before == 0) {
        const coded_block one{whole.from + at, stored, whole.to + begin + stream * room, room};
        if (stored == room)
          copy_bytes_by(warp, one.to, one.from, room);
        else if (!decode(one))
          return false;
      }
      before = (before == 0 ? share.step : before) - 1;
      at += stored;
    }
  }
  return true;
}

}  // namespace feedline::detail
