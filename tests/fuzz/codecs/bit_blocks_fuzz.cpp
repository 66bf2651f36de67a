/// Fuzz target of the GPUs' decoders for HDF5's bitshuffle with LZ4 or Zstandard: any bytes that
/// they take the CPU's filter takes, too, and decodes to the same. The first two bytes are the
/// room, the third says the compression and how large an element is; the others are the frame. One
/// warp and three must say the same.

#include "support/files/bit_blocks.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace feedline::test;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "bit_blocks_fuzz: does not hold: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::size_t room = data[0] | std::size_t{data[1]} << 8U;
  const bit_blocks::setting of{(data[2] & 1U) == 0 ? bit_compression::lz4 : bit_compression::zstd,
                               1 + (data[2] >> 1U & 15U)};
  if (room == 0) return 0;  // no block is empty
  const auto* const raw = reinterpret_cast<const std::byte*>(data + 3);
  const bit_blocks::bytes frame(raw, raw + size - 3);
  const auto seen = bit_blocks::by_feedline(of, frame, room, {.lead = room % 4});
  const auto shared =
      bit_blocks::by_feedline(of, frame, room, {.to_lead = 1, .last_first = true, .warps = 3});
  require(seen == shared, "all warps say the same");
  if (seen) require(seen == bit_blocks::by_filter(of, frame, room), "it is what the filter says");
  return 0;
}
