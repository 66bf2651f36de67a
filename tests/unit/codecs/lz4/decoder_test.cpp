/// The decoder of LZ4 that GPUs run, by warps of the host: against the CPU's filter, which is
/// liblz4, on frames of all kinds, whole and damaged.

#include "codecs/lz4/decoder.hpp"

#include "support/checks/sanitized.hpp"
#include "support/files/lz4_frames.hpp"

#include <cstddef>
#include <cstdint>

using namespace feedline;
using namespace feedline::test::lz4;

namespace {

struct frame {
  bytes plain;
  bytes packed = {};
};

frame draw_frame(frame_maker& make) {
  const std::size_t size = 1 + make.below(make.below(30) == 0 ? 280'000 : 3000);
  frame made{.plain = make.plain(make.below(frame_maker::kinds), size)};
  made.packed = packed(made.plain, make.block(size), make.level());
  return made;
}

}  // namespace

TEST_CASE("lz4: whole frames are decoded, whatever packed them", "[device][host]") {
  frame_maker make{GENERATE(1U, 2U, 3U, 4U)};
  for (std::size_t i = 0; i < 200; ++i) {
    const frame of = draw_frame(make);
    const way how = make.any_way();
    const std::size_t size = of.plain.size();
    CAPTURE(i, size, of.packed.size(), how.lead, how.to_lead, how.last_first, how.warps);
    REQUIRE(by_filter(of.packed, size) == of.plain);
    REQUIRE(by_feedline(of.packed, size, how) == of.plain);
    if (i % 3 == 0) REQUIRE(by_feedline<4>(of.packed, size, how) == of.plain);
    CHECK(!by_feedline(of.packed, size + 1, how));
    if (size > 1) CHECK(!by_feedline(of.packed, size - 1, how));
  }
}

TEST_CASE("lz4: each kind of content and each level is decoded, in one block and in several",
          "[device][host]") {
  const std::size_t kind = GENERATE(range(std::size_t{0}, frame_maker::kinds));
  const std::size_t size =
      GENERATE(std::size_t{1}, std::size_t{300}, std::size_t{20'000}, std::size_t{200'704});
  frame_maker make{static_cast<unsigned>(size + kind)};
  const bytes plain = make.plain(kind, size);
  for (int level = -3; level <= 12; level += size > 30'000 ? 3 : 1)
    for (const std::size_t block : {std::size_t{1} << 30U, size / 3 + 1, std::size_t{8192}}) {
      const bytes frame = packed(plain, block, level);
      CAPTURE(kind, size, level, block);
      REQUIRE(by_feedline(frame, size, {.last_first = level % 2 != 0}) == plain);
    }
}

TEST_CASE("lz4: frames of every small size are decoded", "[device][host]") {
  frame_maker make{GENERATE(1U, 2U)};
  for (std::size_t size = 1; size <= 600; ++size) {
    const bytes plain = make.plain(size % frame_maker::kinds, size);
    const way how = make.any_way();
    for (const int level : {-1, 9}) {
      CAPTURE(size, level, how.lead, how.to_lead);
      REQUIRE(by_feedline(framed(packed_block(plain, level), size), size, how) ==
              by_filter(framed(packed_block(plain, level), size), size));
      REQUIRE(by_feedline(packed(plain, 1 + make.below(size), level), size, how) == plain);
    }
  }
}

TEST_CASE("lz4: long runs are decoded, of literals and of repetitions", "[device][host]") {
  frame_maker make{1};
  for (const std::size_t size : {std::size_t{268}, std::size_t{269}, std::size_t{270},
                                 std::size_t{524}, std::size_t{9000}, std::size_t{1'000'000}})
    for (const std::size_t kind : {std::size_t{0}, std::size_t{1}}) {  // noise, zeros
      const bytes plain = make.plain(kind, size);
      const bytes frame = framed(packed_block(plain, 1), size);
      CAPTURE(size, kind, frame.size());
      REQUIRE(by_feedline(frame, size) == plain);
      REQUIRE(by_feedline<4>(frame, size) == plain);
    }
}

TEST_CASE("lz4: repeats bytes from near and far, few and many", "[device][host]") {
  // Repeated bytes lie this far back, on both sides of the window's size.
  const std::size_t far =
      GENERATE(1U, 2U, 3U, 4U, 5U, 7U, 8U, 15U, 16U, 23U, 24U, 25U, 31U, 33U, 511U, 513U, 1535U,
               1537U, 2559U, 2560U, 2561U, 4071U, 4072U, 4095U, 4096U, 4097U, 5000U, 65'535U);
  frame_maker make{static_cast<unsigned>(far)};
  bytes plain(far);
  for (auto& each : plain) each = make.byte();
  for (const std::size_t most : {6U, 40U, 700U, 4000U})
    for (std::size_t i = 0; i < 60; ++i) {
      for (std::size_t left = 4 + make.below(most); left > 0; --left)
        plain.push_back(plain[plain.size() - far]);
      for (std::size_t left = make.below(make.below(8) == 0 ? 2000 : 4); left > 0; --left)
        plain.push_back(make.byte());
    }
  const bytes frame = packed(plain, plain.size(), 9);
  for (const std::size_t to_lead : {0U, 1U, 7U, 15U}) {
    CAPTURE(far, to_lead, plain.size());
    REQUIRE(by_feedline(frame, plain.size(), {to_lead % 4, to_lead, to_lead % 2 != 0}) == plain);
  }
}

TEST_CASE("lz4: damaged frames are taken only if liblz4 decodes them to the same bytes",
          "[device][host]") {
  frame_maker make{GENERATE(1U, 2U, 3U, 4U)};
  std::size_t good = 0;
  std::size_t stricter = 0;
  constexpr std::size_t tries = test::sanitized ? 250 : 1000;
  for (std::size_t i = 0; i < tries; ++i) {
    frame of = draw_frame(make);
    make.damage(of.packed);
    const std::size_t size = of.plain.size();
    const std::size_t room = i % 7 != 0 ? size : size + make.below(2);
    const way how = make.any_way();
    CAPTURE(i, room, of.packed.size(), how.lead, how.to_lead, how.last_first, how.warps);
    const auto expected = by_filter(of.packed, room);
    const auto seen = by_feedline(of.packed, room, how);
    if (seen) REQUIRE(seen == expected);
    good += seen ? 1 : 0;
    stricter += expected && !seen ? 1 : 0;
  }
  CHECK(good > tries / 10);
  CHECK(good < tries * 3 / 4);
  CHECK(stricter <= tries / 100);  // offsets of 0
}

TEST_CASE("lz4: every byte of a frame may be any other, and every end may be missing",
          "[device][host]") {
  frame_maker make{GENERATE(1U, 2U)};
  const std::size_t kind = GENERATE(std::size_t{3}, std::size_t{4}, std::size_t{5});
  const bytes plain = make.plain(kind, 400);
  const bytes frame = packed(plain, 150, 9);
  std::size_t stricter = 0;
  for (std::size_t at = 0; at < frame.size(); ++at) {
    CAPTURE(kind, at);
    for (unsigned flip = 1; flip < 256; flip += at < 28 ? 1 : 7) {
      bytes damaged = frame;
      damaged[at] ^= static_cast<unsigned char>(flip);
      const auto expected = by_filter(damaged, plain.size());
      const auto seen = by_feedline(damaged, plain.size(), {at % 4, at % 16, at % 2 != 0});
      if (seen)
        REQUIRE(seen == expected);
      else
        stricter += expected ? 1 : 0;
    }
    const bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(at));
    REQUIRE(!by_filter(cut, plain.size()));
    REQUIRE(!by_feedline(cut, plain.size(), {at % 4, at % 16}));
  }
  CHECK(stricter < frame.size() / 4);
}
