#pragma once

#include "codecs/zstd/decoder.hpp"
#include "support/checks/catch.hpp"
#include "support/devices/host_warp.hpp"
#include "support/files/content_maker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <zstd.h>

namespace feedline::test::zstd {

using bytes = content_maker::bytes;

/// Result of libzstd for frames, if it has exactly `room` bytes.
inline std::optional<bytes> by_libzstd(const bytes& frames, std::size_t room) {
  bytes out(room + 1);
  const std::size_t size = ZSTD_decompress(out.data(), room, frames.data(), frames.size());
  if (ZSTD_isError(size) != 0 || size != room) return std::nullopt;
  out.resize(room);
  return out;
}

/// How a warp of the host decodes.
struct way {
  std::size_t lead = 0;     ///< bytes of the frames' first word that are before them
  std::size_t to_lead = 0;  ///< and of the room's first 16 bytes
  bool last_first = false;  ///< the order of lanes
};

/// Result of our decoder for frames. Frames and room are separate allocations, so that sanitizers
/// see any access outside of them.
template <std::uint32_t Lanes = 32>
std::optional<bytes> by_feedline(const bytes& frames, std::size_t room, const way& how = {}) {
  const auto words = std::make_unique<std::uint32_t[]>((how.lead + frames.size() + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + how.lead;
  if (!frames.empty()) std::memcpy(from, frames.data(), frames.size());
  const auto memory = std::make_unique<unsigned char[]>(how.to_lead + room);
  auto* const to = reinterpret_cast<std::byte*>(memory.get()) + how.to_lead;
  host_warp<Lanes> warp;
  warp.last_first = how.last_first;
  const auto tables = std::make_unique<detail::zstd_tables<host_warp<Lanes>>>();
  detail::zstd_decoder<host_warp<Lanes>> decoder{
      warp,   from, static_cast<std::uint32_t>(frames.size()), to, static_cast<std::uint32_t>(room),
      *tables};
  if (!decoder.run()) return std::nullopt;
  const auto* const begin = memory.get() + how.to_lead;
  return bytes(begin, begin + room);
}

/// Draws what is packed, how, and what damage it takes.
class frame_maker : public content_maker {
 public:
  using content_maker::content_maker;

  /// A frame of some level and options.
  bytes packed(const bytes& plain, bool checksum) {
    const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> packer{ZSTD_createCCtx(),
                                                                      &ZSTD_freeCCtx};
    const auto set = [&](ZSTD_cParameter what, std::size_t to) {
      REQUIRE(ZSTD_isError(ZSTD_CCtx_setParameter(packer.get(), what, static_cast<int>(to))) == 0);
    };
    const bool says_size = below(2) == 0;
    // Packers that do not know the size make memory for any, the more the higher the level.
    const std::size_t levels = !says_size ? 9 : plain.size() > 20'000 ? 12 : 25;
    const int level = static_cast<int>(below(levels)) - 5;
    REQUIRE(ZSTD_isError(ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_compressionLevel, level)) ==
            0);
    set(ZSTD_c_checksumFlag, checksum ? 1 : 0);
    set(ZSTD_c_contentSizeFlag, below(2));
    if (!says_size || below(3) == 0) set(ZSTD_c_windowLog, 10 + below(8));
    if (says_size)
      REQUIRE(ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(packer.get(), plain.size())) == 0);
    if (below(4) == 0) set(ZSTD_c_minMatch, 3 + below(4));
    bytes out(ZSTD_compressBound(plain.size()) + 64 + plain.size() / 8);
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const bool at_once = below(2) == 0;
    for (std::size_t done = 0;;) {  // in parts, with blocks that end between them
      const std::size_t part = at_once ? plain.size() - done
                                       : std::min(1 + below(plain.size() + 1), plain.size() - done);
      ZSTD_inBuffer in{plain.data() + done, part, 0};
      done += part;
      const bool is_last = done == plain.size();
      const ZSTD_EndDirective then = is_last         ? ZSTD_e_end
                                     : below(2) == 0 ? ZSTD_e_flush
                                                     : ZSTD_e_continue;
      REQUIRE(ZSTD_isError(ZSTD_compressStream2(packer.get(), &to, &in, then)) == 0);
      REQUIRE(in.pos == in.size);
      if (is_last) break;
    }
    out.resize(to.pos);
    return out;
  }

  static bytes skippable(std::size_t size) {
    bytes frame{0x50, 0x2A, 0x4D, 0x18, static_cast<unsigned char>(size), 0, 0, 0};
    frame.resize(8 + size, 0x99);
    return frame;
  }
};

}  // namespace feedline::test::zstd
