#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/lz/copy.hpp"
#include "codecs/lz/framed_blocks.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Elements whose bits HDF5's filter 32008 shuffles together, if the header does not say.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t default_bit_block(
    std::uint32_t element_bytes) {
  constexpr std::uint32_t wanted_bytes = 8192;
  constexpr std::uint32_t least = 128;
  const std::uint32_t elements = wanted_bytes / element_bytes / 8 * 8;
  return elements < least ? least : elements;
}

/// Header that the filter writes before the compressed blocks.
struct bit_blocks_header {
  std::uint32_t elements = 0;      ///< elements of a block; 0: this is no such header
  std::uint32_t block_bytes = 0;   ///< bytes of a block, or of all blocks if that is less
  std::uint32_t framed_bytes = 0;  ///< bytes of all blocks; the rest of the room follows them
};

/// @param element_bytes Not 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline bit_blocks_header read_bit_blocks_header(
    const coded_block& frame, std::uint32_t element_bytes) {
  using std::uint32_t;
  if (frame.bytes < framed_header_bytes || big_endian(frame.from, 8) != frame.room ||
      frame.room % element_bytes != 0)
    return {};
  const auto said = static_cast<uint32_t>(big_endian(frame.from + 8, 4));
  const uint32_t elements = said == 0 ? default_bit_block(element_bytes) : said / element_bytes;
  if (elements % 8 != 0) return {};
  const uint32_t framed = frame.room / element_bytes / 8 * 8 * element_bytes;
  const std::uint64_t bytes = std::uint64_t{elements} * element_bytes;
  return {elements, bytes < framed ? static_cast<uint32_t>(bytes) : framed, framed};
}

/// Decodes a share of the blocks that follow such a header: their bits stay shuffled.
/// @param decode Like that of `each_framed_block`.
/// @return Whether all bytes are there, and `decode` returned true for each block.
template <class Warp, class Decode>
FEEDLINE_HOST_DEVICE bool decode_bit_blocks(Warp& warp, const bit_blocks_header& header,
                                            const coded_block& frame, block_share share,
                                            Decode decode) {
  if (header.elements == 0) return false;
  coded_block left{frame.from + framed_header_bytes, frame.bytes - framed_header_bytes, frame.to,
                   header.framed_bytes};
  if (!each_framed_block(left, header.block_bytes, share, decode)) return false;
  const std::uint32_t rest = frame.room - header.framed_bytes;
  if (rest > left.bytes) return false;
  if (share.first == 0) copy_bytes_by(warp, left.to, left.from, rest);
  return true;
}

}  // namespace feedline::detail
