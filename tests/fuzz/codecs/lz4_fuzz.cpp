/// Fuzz target of the decoder of LZ4 that GPUs run: any bytes that it takes the CPU's filter takes,
/// too, and decodes to the same. The first two bytes are the room; the others are a frame, or,
/// where the room's highest bit is set, a block alone. Warps of different sizes, whose lanes work
/// in different orders, alone and three for a frame, must say the same.

#include "codecs/lz4/decoder.hpp"
#include "hdf5/filter/filters.hpp"
#include "support/devices/host_warp.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "lz4_fuzz: does not hold: %s\n", what);
  std::abort();
}

struct input {
  std::vector<std::uint8_t> frame;
  std::size_t room;
};

struct result {
  bool good = true;
  std::vector<std::byte> decoded = {};
};

input input_of(const std::uint8_t* data, std::size_t size) {
  const std::size_t said = data[0] | std::size_t{data[1]} << 8U;
  const std::size_t room = said % 0x8000;
  if (said == room) return {{data + 2, data + size}, room};
  input made{std::vector<std::uint8_t>(16), room};
  const auto put = [&](std::size_t at, std::size_t number) {
    for (std::size_t i = 0; i < 4; ++i)
      made.frame[at + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  };
  put(4, room);
  put(8, room);
  put(12, size - 2);
  made.frame.insert(made.frame.end(), data + 2, data + size);
  return made;
}

template <std::uint32_t Lanes>
result by_feedline(const input& given, bool last_first, std::uint32_t warps) {
  // In memory of its own, of whole words, as far into the first as the room says.
  const std::size_t lead = given.room % 4;
  const std::size_t bytes = given.frame.size();
  const auto words = std::make_unique<std::uint32_t[]>((lead + bytes + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + lead;
  if (bytes != 0) std::memcpy(from, given.frame.data(), bytes);
  result found{.decoded = std::vector<std::byte>(given.room)};
  test::host_warp<Lanes> warp;
  warp.last_first = last_first;
  const auto tables = std::make_unique<detail::lz4_tables<test::host_warp<Lanes>>>();
  for (std::uint32_t first = 0; first < warps; ++first) {
    const detail::coded_block whole{from, static_cast<std::uint32_t>(bytes), found.decoded.data(),
                                    static_cast<std::uint32_t>(given.room)};
    if (!detail::decode_lz4_frame(warp, *tables, whole, {first, warps})) found.good = false;
  }
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const input given = input_of(data, size);
  if (given.room == 0) return 0;  // no block is empty
  const result seen = by_feedline<32>(given, false, 1);
  const result other = by_feedline<4>(given, true, 1);
  const result shared = by_feedline<32>(given, true, 3);
  require(seen.good == other.good && seen.good == shared.good, "all warps say the same");
  if (!seen.good) return 0;
  require(seen.decoded == other.decoded && seen.decoded == shared.decoded,
          "all warps decode to the same");
  static const detail::hdf5_filters filters{{{.id = 32004}}};
  detail::hdf5_decoder scratch;
  std::vector<std::byte> expected(given.room);
  try {
    filters.decode(std::as_bytes(std::span{given.frame}), 0, true, scratch, expected);
  } catch (const detail::hdf5_filter_error&) {
    require(false, "what is taken liblz4 takes too");
  }
  require(seen.decoded == expected, "it decodes to what liblz4 says");
  return 0;
}
