/// The decoder of deflate that GPUs run, by one thread: against zlib, on streams of all kinds,
/// most of them damaged. Streams and room lie in memory of their own, so that sanitizers see what
/// is touched beside them.

#include "codecs/inflate/inflate.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/host_warp.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace feedline;

namespace {

using bytes = std::vector<unsigned char>;

/// Output of a stream, and its length.
struct result {
  bytes decoded;
  std::size_t taken;

  friend bool operator==(const result&, const result&) = default;
};

std::optional<result> by_zlib(bytes stream, std::size_t room) {
  z_stream state{};
  REQUIRE(inflateInit2(&state, -15) == Z_OK);
  bytes out(room + 1);
  stream.resize(std::max<std::size_t>(stream.size(), 1));
  state.next_in = stream.data();
  state.avail_in = static_cast<uInt>(stream.size());
  state.next_out = out.data();
  state.avail_out = static_cast<uInt>(out.size());
  const bool whole = inflate(&state, Z_FINISH) == Z_STREAM_END && state.total_out == room;
  const std::size_t taken = state.total_in;
  inflateEnd(&state);
  out.resize(room);
  return whole ? std::optional{result{out, taken}} : std::nullopt;
}

/// @param lead Bytes of the stream's first word that are before it.
std::optional<result> by_feedline(const bytes& stream, std::size_t room, std::size_t lead) {
  const auto words = std::make_unique<std::uint32_t[]>((lead + stream.size() + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get()) + lead;
  if (!stream.empty()) std::memcpy(from, stream.data(), stream.size());
  const auto to = std::make_unique<unsigned char[]>(room);
  const auto tables = std::make_unique<detail::inflate_tables>();
  detail::inflater<detail::team_of_one> inflater{from, static_cast<std::uint32_t>(stream.size()),
                                                 reinterpret_cast<std::byte*>(to.get()),
                                                 static_cast<std::uint32_t>(room), *tables};
  const detail::inflated done = inflater.run();
  if (!done.good) return std::nullopt;
  return result{bytes(to.get(), to.get() + room), done.bytes};
}

class stream_maker {
 public:
  explicit stream_maker(unsigned seed) : random_{seed} {}

  std::size_t below(std::size_t count) { return random_() % count; }

  bytes plain(std::size_t size) {
    bytes made(size);
    const std::size_t kind = below(5);
    const std::string words = "the quick brown fox";
    for (std::size_t i = 0; i < size; ++i) {
      const auto drawn = static_cast<unsigned char>(random_());
      switch (kind) {
        case 0:  // stored
          made[i] = drawn;
          break;
        case 1:  // runs
          made[i] = below(8) != 0 ? 0 : drawn;
          break;
        case 2:
          made[i] = static_cast<unsigned char>((i / 7 * 3) % 61 + i % 4);
          break;
        case 3:
          made[i] = static_cast<unsigned char>(words[below(words.size())]);
          break;
        default:  // few are frequent: codes as long as there are
          made[i] = static_cast<unsigned char>(drawn & static_cast<unsigned char>(random_()) &
                                               static_cast<unsigned char>(random_()));
      }
    }
    return made;
  }

  /// Deflated by some level, strategy and memory, in one go or with a flush within.
  bytes packed(bytes plain) {
    z_stream state{};
    REQUIRE(deflateInit2(&state, static_cast<int>(below(10)), Z_DEFLATED, -15,
                         1 + static_cast<int>(below(9)), static_cast<int>(below(5))) == Z_OK);
    bytes out(deflateBound(&state, static_cast<uLong>(plain.size())) + 64);
    plain.resize(plain.size() + 1);
    const std::size_t size = plain.size() - 1;
    state.next_in = plain.data();
    state.next_out = out.data();
    state.avail_out = static_cast<uInt>(out.size());
    if (below(2) != 0) {
      state.avail_in = static_cast<uInt>(size / 2);
      deflate(&state, below(2) != 0 ? Z_FULL_FLUSH : Z_PARTIAL_FLUSH);
    }
    state.avail_in = static_cast<uInt>(size - state.total_in);
    REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
    out.resize(state.total_out);
    deflateEnd(&state);
    return out;
  }

  void damage(bytes& stream) {
    const auto drawn = [&] { return static_cast<unsigned char>(random_()); };
    switch (below(5)) {
      case 0:
        stream[below(stream.size())] ^= static_cast<unsigned char>(1U << below(8));
        break;
      case 1:
        for (std::size_t i = 0; i < 4; ++i) stream[below(stream.size())] = drawn();
        break;
      case 2:
        stream.resize(below(stream.size()));
        break;
      case 3:
        stream.resize(stream.size() + below(9), drawn());
        break;
      default:
        for (std::size_t i = below(std::min<std::size_t>(stream.size(), 30)); i < stream.size();
             ++i)
          stream[i] = drawn();
    }
  }

 private:
  std::mt19937 random_;
};

bool decodes(const bytes& stream, std::size_t room) {
  const bool good = by_feedline(stream, room, 0).has_value();
  CHECK(good == by_zlib(stream, room).has_value());
  return good;
}

}  // namespace

TEST_CASE("inflate: gives zlib's result, and nothing where zlib gives nothing", "[device][host]") {
  stream_maker make{GENERATE(1U, 2U, 3U, 4U)};
  std::size_t good = 0;
  constexpr std::size_t streams = 600;
  for (std::size_t i = 0; i < streams; ++i) {
    const std::size_t size = make.below(i % 50 == 0 ? 70'000 : 2000);
    bytes stream = make.packed(make.plain(size));
    if (i % 3 != 0) make.damage(stream);
    const std::size_t room = i % 7 != 0 ? size : size + make.below(2);
    const std::size_t lead = make.below(4);
    CAPTURE(i, size, room, lead);
    const auto expected = by_zlib(stream, room);
    REQUIRE(by_feedline(stream, room, lead) == expected);
    good += expected ? 1 : 0;
  }
  CHECK(good > streams / 4);
  CHECK(good < streams * 3 / 4);
}

TEST_CASE("inflate: repeats bytes from near and far, and none from before the beginning",
          "[device][host]") {
  // Repeated bytes lie this far back, on both sides of the window's size.
  const std::size_t far =
      GENERATE(1U, 2U, 31U, 257U, 259U, 3071U, 3072U, 3073U, 4095U, 4096U, 4097U, 32'000U, 32'768U);
  stream_maker make{7};
  bytes plain(far);
  for (auto& each : plain) each = static_cast<unsigned char>(make.below(256));
  const bytes once = plain;
  while (plain.size() < far + 3000) plain.insert(plain.end(), once.begin(), once.end());
  const bytes stream = make.packed(plain);
  const auto seen = by_feedline(stream, plain.size(), 0);
  REQUIRE(seen);
  CHECK(seen->decoded == plain);

  // Fixed codes; literal 0x61 (code 0x91), then length 3 (0000001) at distance 2 (00001): too far.
  const bytes before_the_beginning{0x4B, 0x04, 0x11, 0x00};
  CHECK(!decodes(before_the_beginning, 4));
}

TEST_CASE("inflate: invalid codes are refused", "[device][host]") {
  CHECK(decodes({0x03, 0x00}, 0));               // the empty stream
  CHECK(!decodes({0x07, 0x00}, 0));              // a block of the kind that there is not
  CHECK(!decodes({}, 0));                        // no block
  CHECK(decodes({1, 1, 0, 0xFE, 0xFF, 9}, 1));   // a stored byte
  CHECK(!decodes({1, 1, 0, 0xFE, 0xFE, 9}, 1));  // its length is not given twice
  CHECK(!decodes({1, 2, 0, 0xFD, 0xFF, 9}, 2));  // more than there is
  CHECK(!decodes({0xFD, 0xFF, 0, 0, 0}, 0));     // 287 or more codes of literals
  CHECK(!decodes({0x05, 0x1F, 0, 0, 0}, 0));     // 31 or more codes of distances
  CHECK(!decodes({0x05, 0xC0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 0));  // too many codes
  CHECK(!decodes(bytes(64, 0x00), 0));                                   // invalid stored blocks
}

namespace {

/// Bytes as filters leave them: most are small, some are any, and some repeat others.
bytes filtered_bytes(stream_maker& make, std::size_t size, std::size_t spread) {
  bytes made;
  while (made.size() < size) {
    if (made.size() > 40 && make.below(30) == 0) {
      const std::size_t back = 1 + make.below(40);
      for (int i = 0; i < 5; ++i) made.push_back(made[made.size() - back]);
      continue;
    }
    std::size_t most = 1;
    while (most < 256 && make.below(spread) != 0) most *= 2;
    made.push_back(static_cast<unsigned char>(make.below(make.below(60) == 0 ? 256 : most)));
  }
  made.resize(size);
  return made;
}

/// Decodes an image's stream by so many lanes; empty if it is refused.
template <std::uint32_t Lanes>
bytes by_lanes(const bytes& stream, std::size_t room) {
  const auto words = std::make_unique<std::uint32_t[]>((stream.size() + 3) / 4);
  auto* const from = reinterpret_cast<std::byte*>(words.get());
  if (!stream.empty()) std::memcpy(from, stream.data(), stream.size());
  bytes to(room);
  const auto tables = std::make_unique<detail::inflate_tables>();
  detail::inflater<detail::team_of_one, test::host_warp<Lanes>> inflater{
      from, static_cast<std::uint32_t>(stream.size()), reinterpret_cast<std::byte*>(to.data()),
      static_cast<std::uint32_t>(room), *tables};
  return inflater.run().good ? to : bytes{};
}

}  // namespace

TEST_CASE("inflate for GPUs: lanes find literals of short and long codes between repetitions",
          "[decoding][host]") {
  stream_maker make{11};
  for (int i = 0; i < 300; ++i) {
    const bytes plain = filtered_bytes(make, 100 + make.below(5000), 1 + make.below(6));
    const bytes stream = make.packed(plain);
    CAPTURE(i, plain.size(), stream.size());
    REQUIRE((by_lanes<32>(stream, plain.size()) == plain));
    REQUIRE((by_lanes<1>(stream, plain.size()) == plain));
    REQUIRE((by_lanes<7>(stream, plain.size()) == plain));
    REQUIRE((by_lanes<32>(stream, 99) == bytes(plain.begin(), plain.begin() + 99)));
    const auto left = static_cast<std::ptrdiff_t>(make.below(stream.size()));
    REQUIRE(by_lanes<32>(bytes(stream.begin(), stream.begin() + left), plain.size()).empty());
  }
}
