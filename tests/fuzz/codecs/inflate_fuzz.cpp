/// Fuzz target of the decoder of deflate that GPUs run: any bytes give what zlib gives, or nothing.
/// The first two bytes are the room, the others the stream.

#include "codecs/inflate/inflate.hpp"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "inflate_fuzz: does not hold: %s\n", what);
  std::abort();
}

struct result {
  bool good = false;
  std::size_t taken = 0;
  std::vector<std::uint8_t> decoded = {};
};

result by_zlib(const std::uint8_t* from, std::size_t bytes, std::size_t room) {
  std::vector<std::uint8_t> out(room + 1);
  z_stream state{};
  require(inflateInit2(&state, -15) == Z_OK, "zlib starts");
  state.next_in = const_cast<Bytef*>(from);
  state.avail_in = static_cast<uInt>(bytes);
  state.next_out = out.data();
  state.avail_out = static_cast<uInt>(out.size());
  const bool whole = inflate(&state, Z_FINISH) == Z_STREAM_END;
  const result found{whole && state.total_out == room, state.total_in, std::move(out)};
  inflateEnd(&state);
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t room = data[0] | std::size_t{data[1]} << 8U;
  const std::size_t bytes = size - 2;
  const result expected = by_zlib(data + 2, bytes, room);
  // In memory of its own, of whole words, as far into the first as the room says.
  const std::size_t lead = room % 4;
  const auto words = std::make_unique<std::uint32_t[]>((lead + bytes + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + lead;
  if (bytes != 0) std::memcpy(from, data + 2, bytes);
  const auto to = std::make_unique<std::byte[]>(room);
  const auto tables = std::make_unique<detail::inflate_tables>();
  detail::inflater<detail::team_of_one> inflater{from, static_cast<std::uint32_t>(bytes), to.get(),
                                                 static_cast<std::uint32_t>(room), *tables};
  const detail::inflated seen = inflater.run();
  require(seen.good == expected.good, "it is whole, or not, as zlib says");
  if (!seen.good) return 0;
  require(seen.bytes == expected.taken, "it ends where zlib says");
  require(room == 0 || std::memcmp(to.get(), expected.decoded.data(), room) == 0,
          "it decodes to what zlib says");
  return 0;
}
