#pragma once

#include "codecs/lz/bit_blocks.hpp"
#include "codecs/lz4/decoder.hpp"
#include "codecs/zstd/decoder.hpp"
#include "hdf5/filter/filters.hpp"
#include "support/devices/host_warp.hpp"
#include "support/hdf5/encoders.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace feedline::test::bit_blocks {

using bytes = std::vector<std::byte>;

/// Parameters of HDF5's filter 32008 when it compresses.
struct setting {
  bit_compression compression = bit_compression::lz4;
  std::uint32_t element = 1;
};

/// Result of the CPU's filter, if it decodes to exactly `room` bytes.
inline std::optional<bytes> by_filter(const std::vector<unsigned>& values, const bytes& stored,
                                      std::size_t room) {
  const detail::hdf5_filters filters{{{.id = 32008, .values = values}}};
  detail::hdf5_decoder scratch;
  bytes out(room);
  try {
    filters.decode(stored, 0, true, scratch, out);
  } catch (const detail::hdf5_filter_error&) {
    return std::nullopt;
  }
  return out;
}
inline std::optional<bytes> by_filter(const setting& of, const bytes& frame, std::size_t room) {
  return by_filter({0, 0, of.element, 0, static_cast<unsigned>(of.compression)}, frame, room);
}

/// How warps of the host decode.
struct way {
  std::size_t lead = 0;     ///< bytes of the frame's first word that are before it
  std::size_t to_lead = 0;  ///< and of the room's first 16 bytes
  bool last_first = false;  ///< the order of lanes
  std::uint32_t warps = 1;  ///< warps that divide the blocks among them
};

/// Result of our decoders for a frame; the filter restores the bits. Each array has its own
/// allocation, so that sanitizers see any access outside of it.
inline std::optional<bytes> by_feedline(const setting& of, const bytes& frame, std::size_t room,
                                        const way& how = {}) {
  using warp = host_warp<32>;
  const auto words = std::make_unique<std::uint32_t[]>((how.lead + frame.size() + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + how.lead;
  if (!frame.empty()) std::memcpy(from, frame.data(), frame.size());
  const auto memory = std::make_unique<std::byte[]>(how.to_lead + room);
  const detail::coded_block whole{from, static_cast<std::uint32_t>(frame.size()),
                                  memory.get() + how.to_lead, static_cast<std::uint32_t>(room)};
  const detail::bit_blocks_header header = detail::read_bit_blocks_header(whole, of.element);
  bool good = true;
  warp lanes;
  lanes.last_first = how.last_first;
  for (std::uint32_t first = 0; first < how.warps; ++first) {
    const detail::block_share share{first, how.warps};
    if (of.compression == bit_compression::lz4) {
      const auto tables = std::make_unique<detail::lz4_tables<warp>>();
      good &= detail::decode_bit_blocks(lanes, header, whole, share,
                                        [&](const detail::coded_block& block) {
                                          return detail::decode_lz4_block(lanes, *tables, block);
                                        });
    } else {
      const auto tables = std::make_unique<detail::zstd_tables<warp>>();
      good &= detail::decode_bit_blocks(lanes, header, whole, share,
                                        [&](const detail::coded_block& block) {
                                          return detail::decode_zstd_block(lanes, *tables, block);
                                        });
    }
  }
  if (!good) return std::nullopt;
  return by_filter({0, 0, of.element, header.elements, 0}, bytes(whole.to, whole.to + room), room);
}

}  // namespace feedline::test::bit_blocks
