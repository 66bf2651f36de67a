#pragma once

#include "detail/host_device.hpp"
#include "device/lz/bits.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// What HDF5's filters 32004 and 32008 write: the size of all (64 bits), that of a block (32 bits),
// and the blocks, each behind the size in which it is stored (32 bits); highest bytes first.

inline constexpr std::uint32_t framed_header_bytes = 12;

/// What is decoded, and to where.
struct coded_block {
  const std::byte* from;
  std::uint32_t bytes;
  std::byte* to;
  std::uint32_t room;  ///< that it must fill
};

/// One warp's blocks where several work at a frame: `first`, `first + step` and so on.
struct block_share {
  std::uint32_t first = 0;
  std::uint32_t step = 1;
};

/// Calls `decode(coded_block)` for each block of a share.
/// @param left  Behind the header, and what blocks decode to. Then it is what is behind them.
/// @param block What each decodes to but the last; not 0.
/// @return Whether all blocks are there, and `decode` always said so.
template <class Decode>
FEEDLINE_HOST_DEVICE bool each_framed_block(coded_block& left, std::uint32_t block,
                                            block_share share, Decode decode) {
  using std::uint32_t;
  constexpr uint32_t size_bytes = 4;
  uint32_t before = share.first;  // blocks, up to the share's next one
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
