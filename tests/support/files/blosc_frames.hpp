#pragma once

#include "codecs/blosc/frame.hpp"
#include "codecs/inflate/zlib.hpp"
#include "codecs/lz4/decoder.hpp"
#include "codecs/zstd/decoder.hpp"
#include "hdf5/filter/planes.hpp"
#include "support/devices/host_warp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <blosc.h>

namespace feedline::test {

/// Undoes the shuffle of a frame's blocks.
inline std::vector<std::byte> join_blosc_planes(const detail::blosc_frame& frame,
                                                const std::vector<std::byte>& shuffled) {
  std::vector<std::byte> plain = shuffled;
  if (frame.shuffle == detail::blosc_shuffle::none) return plain;
  const std::size_t size = frame.element_bytes;
  for (std::size_t begin = 0; begin < plain.size(); begin += frame.block_bytes) {
    const std::size_t n = std::min<std::size_t>(frame.block_bytes, plain.size() - begin);
    const std::size_t count = n / size;
    std::vector<std::byte> between(count * size);
    if (frame.shuffle == detail::blosc_shuffle::bytes)
      detail::join_byte_planes(shuffled.data() + begin, count, size, plain.data() + begin);
    else if (count != 0 && count % 8 == 0)
      detail::join_bit_planes(shuffled.data() + begin, count, size, between, plain.data() + begin);
  }
  return plain;
}

/// A frame decoded as GPUs do it, by warps of the host. Frame and room are separate allocations,
/// so that sanitizers see any access outside of them.
/// @tparam Lanes Threads of a warp. @param warps So many share the frame. @param lead Bytes before
/// the frame in its first word. @param last_first Whether the last lane works first.
/// @return Nothing if it does not decode.
template <std::uint32_t Lanes>
std::optional<std::vector<std::byte>> decode_blosc_by_warps(std::span<const std::byte> stored,
                                                            std::size_t room, std::uint32_t warps,
                                                            std::size_t lead, bool last_first) {
  using warp = host_warp<Lanes>;
  const auto words = std::make_unique<std::uint32_t[]>((lead + stored.size() + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + lead;
  if (!stored.empty()) std::memcpy(from, stored.data(), stored.size());
  const auto memory = std::make_unique<std::byte[]>(room);
  const detail::coded_block whole{from, static_cast<std::uint32_t>(stored.size()), memory.get(),
                                  static_cast<std::uint32_t>(room)};
  const detail::blosc_frame frame = detail::read_blosc_frame(whole);
  warp lanes;
  lanes.last_first = last_first;
  const auto zstd = std::make_unique<detail::zstd_tables<warp>>();
  const auto lz4 = std::make_unique<detail::lz4_tables<warp>>();
  const auto inflate = std::make_unique<detail::inflate_tables>();
  const auto decode = [&](const detail::coded_block& stream) {
    if (frame.compressor == detail::blosc_compressor::zstd)
      return decode_zstd_block(lanes, *zstd, stream);
    if (frame.compressor == detail::blosc_compressor::zlib)
      return detail::decode_zlib_block<detail::team_of_one>(*inflate, stream);
    return detail::decode_lz4_block(lanes, *lz4, stream);
  };
  const bool is_known = frame.compressor == detail::blosc_compressor::zstd ||
                        frame.compressor == detail::blosc_compressor::zlib;
  bool good = true;
  for (std::uint32_t first = 0; first < warps; ++first) {
    const detail::block_share share{first, warps};
    good &= detail::decode_blosc_streams(
        lanes, frame, whole, share, is_known ? frame.compressor : detail::blosc_compressor::lz4,
        decode);
  }
  if (!good) return std::nullopt;
  return join_blosc_planes(frame, {memory.get(), memory.get() + room});
}

/// The same by libblosc.
inline std::optional<std::vector<std::byte>> decode_blosc_by_library(
    std::span<const std::byte> stored, std::size_t room) {
  std::size_t claimed = 0;
  if (stored.size() < BLOSC_MIN_HEADER_LENGTH ||
      blosc_cbuffer_validate(stored.data(), stored.size(), &claimed) < 0 || claimed != room)
    return std::nullopt;
  std::vector<std::byte> out(room);
  if (blosc_decompress_ctx(stored.data(), out.data(), room, 1) != static_cast<int>(room))
    return std::nullopt;
  return out;
}

}  // namespace feedline::test
