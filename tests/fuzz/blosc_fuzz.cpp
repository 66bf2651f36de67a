/// Fuzz target of the decoder of Blosc's frames that GPUs run: the input is a frame, which says its
/// room. Warps of different sizes, whose lanes work in different orders, alone and three for a
/// frame, must say the same; what they and libblosc take, both decode to the same.

#include "codecs/blosc/frame.hpp"
#include "codecs/lz4/decoder.hpp"
#include "codecs/zstd/decoder.hpp"
#include "hdf5/filter/planes.hpp"
#include "support/devices/host_warp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <blosc.h>

using namespace feedline;

namespace {

using bytes = std::vector<std::byte>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "blosc_fuzz: does not hold: %s\n", what);
  std::abort();
}

struct result {
  bool good = true;
  bytes decoded = {};  ///< still shuffled
};

template <std::uint32_t Lanes>
result by_feedline(std::span<const std::uint8_t> stored, std::uint32_t room, bool last_first,
                   std::uint32_t warps) {
  using warp = test::host_warp<Lanes>;
  // In memory of its own, of whole words, as far into the first as the room says.
  const std::size_t lead = room % 4;
  const auto words = std::make_unique<std::uint32_t[]>((lead + stored.size() + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + lead;
  std::memcpy(from, stored.data(), stored.size());
  result found{.decoded = bytes(room)};
  const detail::coded_block whole{from, static_cast<std::uint32_t>(stored.size()),
                                  found.decoded.data(), room};
  const detail::blosc_frame frame = detail::read_blosc_frame(whole);
  warp lanes;
  lanes.last_first = last_first;
  const auto zstd = std::make_unique<detail::zstd_tables<warp>>();
  const auto lz4 = std::make_unique<detail::lz4_tables<warp>>();
  for (std::uint32_t first = 0; first < warps; ++first) {
    const detail::block_share share{first, warps};
    found.good &=
        frame.compressor == detail::blosc_compressor::zstd
            ? detail::decode_blosc_streams(lanes, frame, whole, share, frame.compressor,
                                           [&](const detail::coded_block& stream) {
                                             return decode_zstd_block(lanes, *zstd, stream);
                                           })
            : detail::decode_blosc_streams(lanes, frame, whole, share,
                                           detail::blosc_compressor::lz4,
                                           [&](const detail::coded_block& stream) {
                                             return detail::decode_lz4_block(lanes, *lz4, stream);
                                           });
  }
  return found;
}

/// Undoes the shuffle of a frame's blocks.
bytes joined(const detail::blosc_frame& frame, const bytes& shuffled) {
  bytes plain = shuffled;
  if (frame.shuffle == detail::blosc_shuffle::none) return plain;
  const std::size_t size = frame.element_bytes;
  for (std::size_t begin = 0; begin < plain.size(); begin += frame.block_bytes) {
    const std::size_t n = std::min<std::size_t>(frame.block_bytes, plain.size() - begin);
    const std::size_t count = n / size;
    bytes between(count * size);
    if (frame.shuffle == detail::blosc_shuffle::bytes)
      detail::join_byte_planes(shuffled.data() + begin, count, size, plain.data() + begin);
    else if (count != 0 && count % 8 == 0)
      detail::join_bit_planes(shuffled.data() + begin, count, size, between, plain.data() + begin);
  }
  return plain;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t max_room = 1U << 15U;
  if (size < detail::blosc_frame::header_bytes) return 0;
  const std::span<const std::uint8_t> stored{data, size};
  std::uint32_t room = 0;
  for (unsigned i = 0; i < 4; ++i) room |= std::uint32_t{data[4 + i]} << (8 * i);
  if (room == 0 || room > max_room) return 0;
  const result seen = by_feedline<32>(stored, room, false, 1);
  const result other = by_feedline<4>(stored, room, true, 1);
  const result shared = by_feedline<32>(stored, room, true, 3);
  require(seen.good == other.good && seen.good == shared.good, "all warps say the same");
  if (!seen.good) return 0;
  require(seen.decoded == other.decoded && seen.decoded == shared.decoded,
          "all warps decode to the same");
  std::size_t claimed = 0;
  if (blosc_cbuffer_validate(data, size, &claimed) < 0 || claimed != room) return 0;
  bytes expected(room);
  if (blosc_decompress_ctx(data, expected.data(), room, 1) != static_cast<int>(room)) return 0;
  const detail::coded_block whole{reinterpret_cast<const std::byte*>(data),
                                  static_cast<std::uint32_t>(size), nullptr, room};
  require(joined(detail::read_blosc_frame(whole), seen.decoded) == expected,
          "it decodes to what libblosc says");
  return 0;
}
