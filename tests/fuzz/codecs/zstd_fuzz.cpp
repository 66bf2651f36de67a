/// Fuzz target of the decoder of Zstandard that GPUs run: any bytes that it takes libzstd takes,
/// too, and decodes to the same. The first two bytes are the room, the others the frames. Warps of
/// different sizes, whose lanes work in different orders, must say the same.

#include "codecs/zstd/decoder.hpp"
#include "support/devices/host_warp.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <zstd.h>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "zstd_fuzz: does not hold: %s\n", what);
  std::abort();
}

struct input {
  const std::uint8_t* from;
  std::size_t bytes;
  std::size_t room;
};

struct result {
  bool good = false;
  std::vector<std::byte> decoded = {};
};

template <std::uint32_t Lanes>
result by_feedline(const input& given, bool last_first) {
  // In memory of its own, of whole words, as far into the first as the room says.
  const std::size_t lead = given.room % 4;
  const auto words = std::make_unique<std::uint32_t[]>((lead + given.bytes + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + lead;
  if (given.bytes != 0) std::memcpy(from, given.from, given.bytes);
  result found{.decoded = std::vector<std::byte>(given.room)};
  test::host_warp<Lanes> warp;
  warp.last_first = last_first;
  const auto tables = std::make_unique<detail::zstd_tables<test::host_warp<Lanes>>>();
  detail::zstd_decoder<test::host_warp<Lanes>> decoder{warp,
                                                       from,
                                                       static_cast<std::uint32_t>(given.bytes),
                                                       found.decoded.data(),
                                                       static_cast<std::uint32_t>(given.room),
                                                       *tables};
  found.good = decoder.run();
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const input given{data + 2, size - 2, data[0] | std::size_t{data[1]} << 8U};
  const result seen = by_feedline<32>(given, false);
  const result other = by_feedline<4>(given, true);
  require(seen.good == other.good, "all warps say the same");
  if (!seen.good) return 0;
  require(seen.decoded == other.decoded, "all warps decode to the same");
  std::vector<std::byte> expected(given.room + 1);
  const std::size_t decoded = ZSTD_decompress(expected.data(), given.room, given.from, given.bytes);
  require(ZSTD_isError(decoded) == 0, "what is taken libzstd takes too");
  require(decoded == given.room, "it is as much as libzstd says");
  expected.resize(given.room);
  require(seen.decoded == expected, "it decodes to what libzstd says");
  return 0;
}
