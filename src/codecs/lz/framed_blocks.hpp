#pragma once

#include "codecs/lz/bits.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Format of HDF5's filters 32004 and 32008: the size of all bytes (64 bits), that of a block (32
// bits), and the blocks, each preceded by its stored size (32 bits); highest bytes first.

inline constexpr std::uint32_t framed_header_bytes = 12;

/// Bytes to decode, and their destination.
struct coded_block {
  const std::byte* from;
  std::uint32_t bytes;
  std::byte* to;
  std::uint32_t room;  ///< bytes that it must fill
};

/// One warp's blocks if several warps share a frame: `first`, `first + step` and so on.
struct block_share {
  std::uint32_t first = 0;
  std::uint32_t step = 1;
};

/// Calls `decode(coded_block)` for each block of a share.
/// @param left Before: the bytes after the header, and the destination of the blocks. Afterwards:
///             what follows the blocks.
/// @param block Decoded size of each block but the last; not 0.
/// @return Whether all blocks are there, and `decode` returned true for each.
template <class Decode>
FEEDLINE_HOST_DEVICE bool each_framed_block(coded_block& left, std::uint32_t block,
                                            block_share share, Decode decode) {
  using std::uint32_t;
  constexpr uint32_t size_bytes = 4;
  uint32_t before = share.first;  // number of blocks before the share's next one
  while (left.room > 0) {
    if (left.bytes < size_bytes) return false;
    const auto bytes = static_cast<uint32_t>(big_endian(left.from, size_bytes));
    left.from += size_bytes;
    left.bytes -= size_bytes;
    if (bytes > left.bytes) return false;
    const uint32_t room = block < left.room ? block : left.room;
    if (before == 0 && !decode(coded_block{left.from, bytes, left.to, room})) return false;
    before = (before == 0 ? share.step : before) - 1;
    left.from += bytes;
    left.bytes -= bytes;
    left.to += room;
    left.room -= room;
  }
  return true;
}

}  // namespace feedline::detail
