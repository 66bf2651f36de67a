/// Frames and blocks of LZ4 byte by byte: which are taken, and which are refused.

#include "support/files/lz4_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace feedline::test::lz4;

namespace {

bytes operator+(bytes left, const bytes& right) {
  append(left, right);
  return left;
}

bytes number(std::uint64_t value, int count) {
  bytes made;
  append_number(made, value, count);
  return made;
}

/// Whether both take a frame, as they must.
bool decodes(const bytes& frame, std::size_t room) {
  const auto expected = by_filter(frame, room);
  CHECK(by_feedline(frame, room) == expected);
  CHECK(by_feedline<4>(frame, room, {.lead = 3, .to_lead = 1, .last_first = true}) == expected);
  return expected.has_value();
}
/// Whether both take a block.
bool takes(const bytes& block, std::size_t room) {
  return decodes(framed(block, room), room);
}
/// Whether we refuse a block that liblz4 takes, at least in some version.
bool is_refused(const bytes& block, std::size_t room) {
  return !by_feedline(framed(block, room), room);
}

bytes text(std::size_t size) {
  bytes made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<unsigned char>('a' + i % 23);
  return made;
}

}  // namespace

TEST_CASE("lz4: a frame says how much it has, and blocks how much they have", "[device][host]") {
  const bytes five = text(5);
  const bytes raw = number(5, 4) + five;
  CHECK(decodes(number(5, 8) + number(5, 4) + raw, 5));
  CHECK(decodes(number(5, 8) + number(0xFFFFFFFF, 4) + raw, 5));
  CHECK(!decodes(number(5, 8) + number(0, 4) + raw, 5));
  CHECK(!decodes(number(4, 8) + number(5, 4) + raw, 5));
  CHECK(!decodes(number(6, 8) + number(6, 4) + raw, 5));
  CHECK(!decodes(number(1ULL << 32U | 5U, 8) + number(5, 4) + raw,
                 5));  // the same in the lower 32 bits
  CHECK(decodes(number(5, 8) + number(5, 4) + raw + bytes{0, 0, 0, 9}, 5));  // more bytes follow
  CHECK(decodes(number(10, 8) + number(5, 4) + raw + raw, 10));
  CHECK(decodes(number(8, 8) + number(5, 4) + raw + number(3, 4) + text(3), 8));
  CHECK(!decodes(number(10, 8) + number(5, 4) + raw, 10));
  CHECK(!decodes(number(10, 8) + number(5, 4) + raw + bytes{0, 0, 0}, 10));
  CHECK(!decodes(number(5, 8) + number(5, 4) + number(6, 4) + five, 5));
  CHECK(!decodes(number(5, 8) + number(5, 4) + number(0xFFFFFFFF, 4) + five, 5));
  CHECK(!decodes(number(5, 8) + number(5, 4) + number(0, 4), 5));
  // A stored size equal to the block's size means plain bytes, even if they could be a block of
  // LZ4.
  CHECK(decodes(number(5, 8) + number(5, 4) + number(5, 4) + bytes{0x40, 1, 2, 3, 4}, 5));
  CHECK(by_feedline(number(5, 8) + number(5, 4) + number(5, 4) + bytes{0x40, 1, 2, 3, 4}, 5) ==
        bytes{0x40, 1, 2, 3, 4});
  const bytes whole = number(5, 8) + number(5, 4) + raw;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    bytes cut = whole;
    cut.resize(size);
    CHECK(!decodes(cut, 5));
  }
}

TEST_CASE("lz4: blocks lie side by side, and repeat nothing of each other", "[device][host]") {
  // 13 literals, and 12 bytes of 13 before.
  const bytes block = bytes{0xD8} + text(13) + bytes{13, 0, 0x50} + text(5);
  REQUIRE(takes(block, 30));
  const bytes stored = number(block.size(), 4) + block;
  CHECK(decodes(number(60, 8) + number(30, 4) + stored + stored, 60));
  const bytes from_before = bytes{0xD8} + text(13) + bytes{14, 0, 0x50} + text(5);
  CHECK(!takes(from_before, 30));
  CHECK(!decodes(
      number(60, 8) + number(30, 4) + stored + number(from_before.size(), 4) + from_before, 60));
}

TEST_CASE("lz4: each warp decodes its blocks, and tells of damage in these", "[device][host]") {
  const std::size_t size = 1000;
  const bytes plain = text(size);
  const bytes frame = packed(plain, 100, 1);  // ten blocks
  for (const std::uint32_t warps : {1U, 2U, 3U, 7U, 10U, 11U})
    CHECK(by_feedline(frame, size, {.warps = warps}) == plain);
  std::size_t at = 12;
  for (std::size_t block = 0; block < 10; ++block) {
    const std::size_t stored = std::size_t{frame[at + 2]} << 8U | frame[at + 3];
    bytes damaged = frame;
    damaged[at + 4] = 0;  // the first token: nothing, and a repetition of it
    for (const std::uint32_t warps : {1U, 2U, 3U, 11U})
      CHECK(!by_feedline(damaged, size, {.warps = warps}));
    at += 4 + stored;
  }
}

TEST_CASE("lz4: a warp writes its own blocks alone", "[device][host]") {
  using warp = host_warp<32>;
  constexpr std::size_t block = 100;
  const bytes plain = text(950);
  const bytes frame = packed(plain, block, 1);
  std::vector<std::uint32_t> words(frame.size() / 4 + 1);
  std::memcpy(words.data(), frame.data(), frame.size());
  for (std::uint32_t first = 0; first < 3; ++first) {
    bytes out(plain.size());
    warp lanes;
    const auto tables = std::make_unique<detail::lz4_tables<warp>>();
    CHECK(detail::decode_lz4_frame(
        lanes, *tables,
        {reinterpret_cast<const std::byte*>(words.data()), static_cast<std::uint32_t>(frame.size()),
         reinterpret_cast<std::byte*>(out.data()), static_cast<std::uint32_t>(out.size())},
        {first, 3}));
    bytes expected = plain;
    for (std::size_t at = 0; at < plain.size(); ++at)
      if (at / block % 3 != first) expected[at] = 0;
    CHECK(out == expected);
  }
}

TEST_CASE("lz4: literals have the declared number, and the last ones fill the block",
          "[device][host]") {
  CHECK(takes(bytes{0x60} + text(6), 6));
  CHECK(takes(bytes{0x10, 7}, 1));
  CHECK(!takes({}, 1));
  CHECK(!takes({}, 100));
  CHECK(!takes({0x00}, 3));
  CHECK(!takes(bytes{0x60} + text(6), 8));
  CHECK(!takes(bytes{0x60} + text(6), 5));
  CHECK(!takes(bytes{0x60} + text(5), 7));
  CHECK(!takes(bytes{0x60} + text(8), 6));
  CHECK(takes(bytes{0xF0, 0} + text(15), 15));
  CHECK(takes(bytes{0xF0, 254} + text(269), 269));
  CHECK(takes(bytes{0xF0, 255, 0} + text(270), 270));
  CHECK(takes(bytes{0xF0, 255, 255, 3} + text(528), 528));
  CHECK(!takes(bytes{0xF0, 255, 0} + text(269), 270));
  CHECK(!takes(bytes{0xF0, 255, 0} + text(271), 270));
  CHECK(!takes({0xF0}, 15));
  CHECK(!takes({0xF0, 255}, 270));
  CHECK(takes(bytes{0x65} + text(6), 6));  // bytes that the last one would repeat do not count
}

TEST_CASE("lz4: lengths of many bytes end, and are no longer than the block", "[device][host]") {
  const std::size_t full = GENERATE(0U, 1U, 3U, 4U, 30U, 31U, 32U, 33U, 64U, 100U, 600U);
  const std::size_t length = 15 + 255 * full + 7;
  const bytes more = bytes(full, 255) + bytes{7};
  CAPTURE(full);
  CHECK(takes(bytes{0xF0} + more + text(length), length));
  CHECK(!takes(bytes{0xF0} + more + text(length), length - 1));
  CHECK(!takes(bytes{0xF0} + more + text(length - 1), length));
  CHECK(!takes(bytes{0xF0} + bytes(full, 255), length));
  // 8 literals, and 4 more than declared from 8 before.
  const auto repeats = [&](const bytes& last) {
    return bytes{0x8F} + text(8) + bytes{8, 0} + more + last;
  };
  const std::size_t room = 8 + length + 4 + 5;
  CHECK(takes(repeats(bytes{0x50} + text(5)), room));
  CHECK(!takes(repeats(bytes{0x50} + text(5)), room - 1));
  for (const std::size_t more_room : {0U, 5U, 12U, 500U})
    CHECK(!takes(repeats({}), room - 5 + more_room));  // nothing follows the last length
  CHECK(!takes(bytes{0x8F} + text(8) + bytes{8, 0} + bytes(full, 255), room));
}

TEST_CASE("lz4: lengths that do not fit in 32 bits are refused", "[device][host]") {
  constexpr std::size_t whole = std::size_t{1} << 32U;
  const auto more = [](std::size_t length) {
    return bytes(length / 255, 255) + bytes{static_cast<unsigned char>(length % 255)};
  };
  // The lower 32 bits of each would fit.
  CHECK(!takes(bytes{0xF0} + more(whole + 100 - 15) + text(100), 100));
  const bytes eight = bytes{0x8F} + text(8) + bytes{8, 0};
  CHECK(!takes(eight + more(whole + 87 - 4 - 15) + bytes{0x50} + text(5), 100));
  // A literal more than there is room for, and a repetition of 50 less than 2^32.
  CHECK(!takes(bytes{0xFF, 101 - 15} + text(101) + bytes{8, 0} + more(whole - 50 - 4 - 15) +
                   bytes{0xF0, 49 - 15} + text(49),
               100));
}

TEST_CASE("lz4: repeats refer to existing bytes", "[device][host]") {
  const auto repeats = [&](std::size_t literals, unsigned offset) {
    return bytes{static_cast<unsigned char>(literals << 4U | 8U)} + text(literals) +
           bytes{static_cast<unsigned char>(offset), static_cast<unsigned char>(offset >> 8U),
                 0x50} +
           text(5);
  };
  for (std::size_t literals = 1; literals < 15; ++literals) {
    CHECK(takes(repeats(literals, 1), literals + 17));
    CHECK(takes(repeats(literals, static_cast<unsigned>(literals)), literals + 17));
    CHECK(!takes(repeats(literals, static_cast<unsigned>(literals) + 1), literals + 17));
    CHECK(!takes(repeats(literals, 256 + static_cast<unsigned>(literals)), literals + 17));
    CHECK(is_refused(repeats(literals, 0), literals + 17));  // liblz4 takes it
  }
  CHECK(!takes(repeats(0, 1), 17));
  // The same among others: three literals and as many repeated, again and again.
  for (const std::size_t before : {1U, 30U, 31U, 32U, 33U, 70U}) {
    bytes block;
    for (std::size_t i = 0; i < before; ++i) append(block, bytes{0x30} + text(3) + bytes{3, 0});
    const std::size_t at = 7 * before;
    const auto then = [&](std::size_t offset) {
      return block +
             bytes{0x08, static_cast<unsigned char>(offset),
                   static_cast<unsigned char>(offset >> 8U), 0x50} +
             text(5);
    };
    CAPTURE(before);
    CHECK(takes(then(at), at + 17));
    CHECK(!takes(then(at + 1), at + 17));
    CHECK(is_refused(then(0), at + 17));
    CHECK(!takes(block + bytes{0xF8, 50} + text(40), at + 300));    // 25 literals are missing
    CHECK(!takes(block + bytes{0xF8} + bytes(8, 255), at + 3000));  // all, and how many they are
    for (unsigned literals = 5; literals < 9; ++literals)           // and half of an offset
      CHECK(!takes(block + bytes{static_cast<unsigned char>(literals << 4U | 8U)} + text(literals) +
                       bytes{3},
                   at + 300));
  }
}

TEST_CASE("lz4: a block ends as encoders end it", "[device][host]") {
  // 9 literals, and some bytes from 9 before.
  const auto block = [&](unsigned match, std::size_t last) {
    return bytes{static_cast<unsigned char>(0x90 + match - 4)} + text(9) +
           bytes{9, 0, static_cast<unsigned char>(last << 4U)} + text(last);
  };
  // A stored size equal to the block's size would mean plain bytes, so at least five are repeated.
  for (unsigned match = 5; match < 12; ++match)
    for (std::size_t last = 0; last < 12; ++last) {
      CAPTURE(match, last);
      // Five literals are the last, and the repetition begins twelve bytes before the end.
      CHECK(takes(block(match, last), 9 + match + last) == (last >= 5 && match + last >= 12));
    }
  // The same where the length of the repetition takes a byte more.
  for (unsigned more = 0; more < 3; ++more)
    for (std::size_t last = 0; last < 8; ++last) {
      const bytes longer =
          bytes{0x9F} + text(9) +
          bytes{9, 0, static_cast<unsigned char>(more), static_cast<unsigned char>(last << 4U)} +
          text(last);
      CAPTURE(more, last);
      CHECK(takes(longer, 9 + 19 + more + last) == (last >= 5));
    }
  // Far from the end liblz4 looks less closely, and takes repetitions to the end.
  const bytes to_the_end = bytes{0xEE} + text(14) + bytes{14, 0, 0x00};
  CHECK(is_refused(to_the_end, 32));
  CHECK(!takes(bytes{0xEE} + text(14) + bytes{14, 0}, 32));
}
