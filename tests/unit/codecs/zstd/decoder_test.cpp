/// The decoder of Zstandard that GPUs run, by a warp of the host: against libzstd, on frames of all
/// kinds, whole and damaged.

#include "codecs/zstd/decoder.hpp"

#include "support/files/zstd_frames.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::test::zstd;

namespace {

/// Consecutive frames, which the CPU takes too.
struct frames {
  bytes plain;
  bytes packed;
};

frames draw_frames(frame_maker& make, bool checksum) {
  frames made;
  for (std::size_t left = make.below(6) == 0 ? 3 : 1; left > 0; --left) {
    const std::size_t size = make.below(make.below(40) == 0 ? 280'000 : 3000);
    const bytes plain = make.plain(make.below(frame_maker::kinds), size);
    const bytes packed = make.packed(plain, checksum);
    made.plain.insert(made.plain.end(), plain.begin(), plain.end());
    made.packed.insert(made.packed.end(), packed.begin(), packed.end());
    if (make.below(8) != 0) continue;
    const bytes skipped = frame_maker::skippable(make.below(20));
    made.packed.insert(made.packed.end(), skipped.begin(), skipped.end());
  }
  return made;
}

way draw_way(frame_maker& make) {
  return {make.below(4), make.below(16), make.below(2) == 0};
}

}  // namespace

TEST_CASE("zstd: whole frames are decoded, whatever packed them", "[device][host]") {
  frame_maker make{GENERATE(1U, 2U, 3U, 4U)};
  for (std::size_t i = 0; i < 150; ++i) {
    const frames of = draw_frames(make, make.below(2) == 0);
    const way how = draw_way(make);
    CAPTURE(i, of.plain.size(), of.packed.size(), how.lead, how.to_lead, how.last_first);
    REQUIRE(by_libzstd(of.packed, of.plain.size()) == of.plain);
    REQUIRE(by_feedline(of.packed, of.plain.size(), how) == of.plain);
    if (i % 3 == 0) REQUIRE(by_feedline<4>(of.packed, of.plain.size(), how) == of.plain);
    CHECK(!by_feedline(of.packed, of.plain.size() + 1, how));
    if (!of.plain.empty()) CHECK(!by_feedline(of.packed, of.plain.size() - 1, how));
  }
}

TEST_CASE("zstd: each kind of content and each level is decoded, in one block and in several",
          "[device][host]") {
  const std::size_t kind = GENERATE(range(std::size_t{0}, frame_maker::kinds));
  const std::size_t size =
      GENERATE(std::size_t{1}, std::size_t{300}, std::size_t{20'000}, std::size_t{200'704});
  frame_maker make{static_cast<unsigned>(size + kind)};
  const bytes plain = make.plain(kind, size);
  for (int level = -5; level <= (size > 30'000 ? 9 : 19); level += size > 30'000 ? 4 : 1) {
    bytes packed(ZSTD_compressBound(size));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), size, level));
    CAPTURE(kind, size, level);
    REQUIRE(by_feedline(packed, size, {0, 0, level % 2 != 0}) == plain);
  }
}

TEST_CASE("zstd: damage after a checksum is found where libzstd finds it", "[device][host]") {
  frame_maker make{GENERATE(1U, 2U, 3U, 4U)};
  std::size_t good = 0;
  std::size_t stricter = 0;
  constexpr std::size_t tries = 400;
  for (std::size_t i = 0; i < tries; ++i) {
    frames of = draw_frames(make, true);
    make.damage(of.packed);
    const way how = draw_way(make);
    CAPTURE(i, of.plain.size(), of.packed.size(), how.lead, how.to_lead, how.last_first);
    const auto expected = by_libzstd(of.packed, of.plain.size());
    const auto seen = by_feedline(of.packed, of.plain.size(), how);
    if (seen) REQUIRE(seen == expected);
    good += seen ? 1 : 0;
    stricter += expected && !seen ? 1 : 0;
  }
  CHECK(good > 0);
  CHECK(good < tries / 4);
  // libzstd takes some frames that the RFC forbids, such as those with reserved bits.
  CHECK(stricter <= tries / 100);
}

TEST_CASE("zstd: damaged frames are taken only if libzstd decodes them to the same bytes",
          "[device][host]") {
  frame_maker make{GENERATE(1U, 2U, 3U, 4U)};
  std::size_t good = 0;
  std::size_t stricter = 0;
  constexpr std::size_t tries = 600;
  for (std::size_t i = 0; i < tries; ++i) {
    frames of = draw_frames(make, false);
    make.damage(of.packed);
    const std::size_t room = i % 7 != 0 ? of.plain.size() : of.plain.size() + make.below(2);
    const way how = draw_way(make);
    CAPTURE(i, room, of.packed.size(), how.lead, how.to_lead, how.last_first);
    const auto expected = by_libzstd(of.packed, room);
    const auto seen = by_feedline(of.packed, room, how);
    if (seen) REQUIRE(seen == expected);
    good += seen ? 1 : 0;
    stricter += expected && !seen ? 1 : 0;
  }
  CHECK(good > tries / 10);
  CHECK(good < tries * 3 / 4);
  // libzstd's fast loops do not look whether streams of literals end where they should.
  CHECK(stricter < tries / 8);
}

TEST_CASE("zstd: repeats bytes from near and far, few and many", "[device][host]") {
  // Repeated bytes lie this far back, on both sides of the window's size.
  const std::size_t far =
      GENERATE(1U, 2U, 3U, 5U, 23U, 24U, 25U, 31U, 33U, 511U, 513U, 1535U, 1537U, 2559U, 2560U,
               2561U, 4071U, 4072U, 4073U, 4095U, 4096U, 4097U, 5000U, 70'000U, 140'000U);
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
  for (const std::size_t to_lead : {0U, 1U, 7U, 15U}) {
    const bytes packed = make.packed(plain, false);
    CAPTURE(far, to_lead, plain.size());
    REQUIRE(by_feedline(packed, plain.size(), {0, to_lead, to_lead % 2 != 0}) == plain);
  }
}
