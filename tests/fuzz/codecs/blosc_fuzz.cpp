/// Fuzz target of the decoder of Blosc's frames that GPUs run: the input is a frame, which says its
/// room. Warps of different sizes, whose lanes work in different orders, alone and three for a
/// frame, must say the same; what they and libblosc take, both decode to the same.

#include "support/files/blosc_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

using namespace feedline;
using namespace feedline::test;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "blosc_fuzz: does not hold: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t max_room = 1U << 15U;
  if (size < detail::blosc_frame::header_bytes) return 0;
  const auto stored = std::as_bytes(std::span{data, size});
  std::uint32_t room = 0;
  for (unsigned i = 0; i < 4; ++i) room |= std::uint32_t{data[4 + i]} << (8 * i);
  if (room == 0 || room > max_room) return 0;
  const std::size_t lead = room % 4;  // the room says it, too
  const auto decoded = decode_blosc_by_warps<32>(stored, room, 1, lead, false);
  require(decoded == decode_blosc_by_warps<4>(stored, room, 1, lead, true) &&
              decoded == decode_blosc_by_warps<32>(stored, room, 3, lead, true),
          "all warps say the same");
  const auto expected = decode_blosc_by_library(stored, room);
  require(!decoded || !expected || *decoded == *expected, "it decodes to what libblosc says");
  return 0;
}
