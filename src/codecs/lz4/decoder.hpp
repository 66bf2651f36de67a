#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/lz/copy.hpp"
#include "codecs/lz/framed_blocks.hpp"
#include "codecs/lz/output.hpp"
#include "codecs/lz4/sequences.hpp"
#include "codecs/lz4/staged_bytes.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Decodes LZ4. For any stored bytes, nothing is written outside the given room, nothing is read but
// the words that contain the stored bytes, and decoding ends: so damaged files do no harm.
//
// The result is that of liblz4, bit for bit, for blocks of any encoder. liblz4 accepts some damaged
// blocks that are refused here (docs/decisions/0077). For warps, see `zstd_decoder`.

/// Memory that a warp shares while it decodes.
template <class Warp>
struct lz4_tables {
  byte_stage<Warp> stage;
  union {
    lz4_sequence sequences[Warp::lanes];
    repetition repetitions[Warp::lanes];
  };
  lz_window window;
};

/// @param block Its room is not 0.
/// @return Whether the block is complete, and fills the room.
template <class Warp>
FEEDLINE_HOST_DEVICE bool decode_lz4_block(Warp& warp, lz4_tables<Warp>& tables,
                                           const coded_block& block) {
  lz4_sequences<Warp> sequences{warp,       tables.stage, tables.sequences,
                                block.from, block.bytes,  block.room};
  lz_output<Warp> out{warp, block.to, block.room, tables.window, tables.repetitions};
  while (!sequences.is_at_end())
    if (!sequences.find() || !out.execute(sequences.batch(), {block.from}, 0, block.room))
      return false;
  out.close_window(sequences.last_literals());
  return true;
}

/// Decodes a share of the blocks of a frame of HDF5's filter 32004.
/// @return Whether the share's blocks are complete, and the room is the size of all blocks. It says
/// nothing about the blocks of other shares.
template <class Warp>
FEEDLINE_HOST_DEVICE bool decode_lz4_frame(Warp& warp, lz4_tables<Warp>& tables, coded_block frame,
                                           block_share share = {}) {
  if (frame.bytes < framed_header_bytes) return false;
  const std::uint64_t all = big_endian(frame.from, 8);
  const auto block = static_cast<std::uint32_t>(big_endian(frame.from + 8, 4));
  if (all != frame.room || block == 0) return false;
  frame.from += framed_header_bytes;
  frame.bytes -= framed_header_bytes;
  return each_framed_block(frame, block, share, [&](const coded_block& each) {
    if (each.bytes != each.room) return decode_lz4_block(warp, tables, each);
    copy_bytes_by(warp, each.to, each.from, each.bytes);
    return true;
  });
}

}  // namespace feedline::detail
