#pragma once

#include "codecs/lz4/decoder.hpp"
#include "hdf5/filter/filters.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/host_warp.hpp"
#include "support/files/content_maker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <lz4.h>
#include <lz4hc.h>

namespace feedline::test::lz4 {

using bytes = content_maker::bytes;

inline void append(bytes& to, const bytes& what) {
  to.insert(to.end(), what.begin(), what.end());
}
inline void append_number(bytes& to, std::uint64_t number, int count) {
  while (count-- > 0) to.push_back(static_cast<unsigned char>(number >> (8 * count)));
}

/// Result of the CPU's filter for a frame, if it has exactly `room` bytes.
inline std::optional<bytes> by_filter(const bytes& frame, std::size_t room) {
  static const detail::hdf5_filters filters{{{.id = 32004}}};
  detail::hdf5_decoder scratch;
  bytes out(room);
  try {
    filters.decode(std::as_bytes(std::span{frame}), 0, true, scratch,
                   std::as_writable_bytes(std::span{out}));
  } catch (const detail::hdf5_filter_error&) {
    return std::nullopt;
  }
  return out;
}

/// How warps of the host decode.
struct way {
  std::size_t lead = 0;     ///< bytes of the frame's first word that are before it
  std::size_t to_lead = 0;  ///< and of the room's first 16 bytes
  bool last_first = false;  ///< the order of lanes
  std::uint32_t warps = 1;  ///< warps that divide the blocks among them
};

/// Result of our decoder for a frame. Frame and room are separate allocations, so that sanitizers
/// see any access outside of them.
template <std::uint32_t Lanes = 32>
std::optional<bytes> by_feedline(const bytes& frame, std::size_t room, const way& how = {}) {
  const auto words = std::make_unique<std::uint32_t[]>((how.lead + frame.size() + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + how.lead;
  if (!frame.empty()) std::memcpy(from, frame.data(), frame.size());
  const auto memory = std::make_unique<unsigned char[]>(how.to_lead + room);
  auto* const to = reinterpret_cast<std::byte*>(memory.get()) + how.to_lead;
  host_warp<Lanes> warp;
  warp.last_first = how.last_first;
  bool good = true;
  for (std::uint32_t first = 0; first < how.warps; ++first) {
    const auto tables = std::make_unique<detail::lz4_tables<host_warp<Lanes>>>();
    const detail::coded_block whole{from, static_cast<std::uint32_t>(frame.size()), to,
                                    static_cast<std::uint32_t>(room)};
    if (!detail::decode_lz4_frame(warp, *tables, whole, {first, how.warps})) good = false;
  }
  if (!good) return std::nullopt;
  const auto* const begin = memory.get() + how.to_lead;
  return bytes(begin, begin + room);
}

/// Levels below 0 are those of the fast packer, others those of the slow one.
inline bytes packed_block(const bytes& plain, int level) {
  bytes out(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(plain.size()))));
  const auto* const from = reinterpret_cast<const char*>(plain.data());
  auto* const to = reinterpret_cast<char*>(out.data());
  const int size = static_cast<int>(plain.size());
  const int room = static_cast<int>(out.size());
  const int made = level < 0 ? LZ4_compress_fast(from, to, size, room, -level)
                             : LZ4_compress_HC(from, to, size, room, level);
  REQUIRE(made > 0);
  out.resize(static_cast<std::size_t>(made));
  return out;
}

/// A frame as HDF5's filter writes it: blocks that do not become smaller are stored uncompressed.
inline bytes packed(const bytes& plain, std::size_t block, int level) {
  bytes frame;
  append_number(frame, plain.size(), 8);
  append_number(frame, block, 4);
  for (std::size_t at = 0; at < plain.size(); at += block) {
    const auto begin = plain.begin() + static_cast<std::ptrdiff_t>(at);
    const bytes part(begin,
                     begin + static_cast<std::ptrdiff_t>(std::min(block, plain.size() - at)));
    const bytes small = packed_block(part, level);
    const bytes& stored = small.size() < part.size() ? small : part;
    append_number(frame, stored.size(), 4);
    append(frame, stored);
  }
  return frame;
}

/// A frame of one block, as it is given.
inline bytes framed(const bytes& block, std::size_t room) {
  bytes frame;
  append_number(frame, room, 8);
  append_number(frame, room, 4);
  append_number(frame, block.size(), 4);
  append(frame, block);
  return frame;
}

/// Draws content, how it is packed, and damage.
class frame_maker : public content_maker {
 public:
  using content_maker::content_maker;

  int level() { return static_cast<int>(below(14)) - 3; }
  std::size_t block(std::size_t size) {
    return below(3) == 0 ? 1U << 30U : 1 + below(below(2) == 0 ? size + 1 : size / 8 + 40);
  }
  way any_way() {
    return {below(4), below(16), below(2) == 0, static_cast<std::uint32_t>(1 + below(4))};
  }
};

}  // namespace feedline::test::lz4
