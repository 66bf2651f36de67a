/// Blocks of shuffled bits that are compressed by LZ4 or Zstandard, decoded by warps of the host:
/// against the CPU's filter.

#include "codecs/lz/bit_blocks.hpp"

#include "support/checks/catch.hpp"
#include "support/files/bit_blocks.hpp"
#include "support/files/content_maker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

using namespace feedline;
using namespace feedline::test;
using namespace feedline::test::bit_blocks;

namespace {

bytes draw(content_maker& make, std::size_t size) {
  bytes made(size);
  const auto plain = make.plain(make.below(content_maker::kinds), size);
  std::transform(plain.begin(), plain.end(), made.begin(),
                 [](unsigned char each) { return std::byte{each}; });
  return made;
}

way any_way(content_maker& make) {
  return {make.below(4), make.below(16), make.below(2) == 0,
          static_cast<std::uint32_t>(1 + make.below(9))};
}

void set_number(bytes& frame, std::size_t at, std::size_t count, std::uint64_t number) {
  for (std::size_t i = 0; i < count; ++i)
    frame[at + i] = static_cast<std::byte>(number >> 8 * (count - 1 - i));
}

bit_compression any_compression() {
  return GENERATE(bit_compression::lz4, bit_compression::zstd);
}

}  // namespace

TEST_CASE("bit blocks: the output of the filter's plugin is decoded, in blocks of any size",
          "[device][host]") {
  const setting of{any_compression(), GENERATE(1U, 2U, 3U, 4U, 8U, 12U, 300U, 9000U)};
  content_maker make{of.element};
  for (const std::size_t elements : {1U, 7U, 8U, 9U, 500U, 4099U})
    for (const std::size_t block : {0U, 8U, 136U, 1024U}) {
      if (elements * of.element > 600'000 || (block == 8 && elements > 600)) continue;
      const bytes plain = draw(make, elements * of.element);
      const bytes frame = bitshuffled(plain, of.element, block, of.compression);
      const way how = any_way(make);
      CAPTURE(of.element, elements, block, how.warps);
      REQUIRE(by_filter(of, frame, plain.size()) == plain);
      REQUIRE(by_feedline(of, frame, plain.size(), how) == plain);
      CHECK(!by_feedline(of, frame, plain.size() + of.element, how));
      if (elements > 1) CHECK(!by_feedline(of, frame, plain.size() - of.element, how));
    }
}

TEST_CASE("bit blocks: a header says the sizes of all and of a block", "[device][host]") {
  const setting of{any_compression(), 4};
  content_maker make{1};
  const bytes plain = draw(make, 4 * 2051);
  const std::size_t size = plain.size();
  const bytes frame = bitshuffled(plain, 4, 2048, of.compression);
  const auto takes = [&](const bytes& stored, std::size_t room) {
    const auto expected = by_filter(of, stored, room);
    CHECK(by_feedline(of, stored, room, {.warps = 3}) == expected);
    return expected.has_value();
  };
  const auto with = [&](std::size_t at, std::size_t count, std::uint64_t number) {
    bytes changed = frame;
    set_number(changed, at, count, number);
    return changed;
  };
  REQUIRE(takes(frame, size));
  CHECK(takes(with(8, 4, 0), size));          // the size that the filter makes them
  CHECK(takes(with(8, 4, 8192 + 3), size));   // not whole elements: the rest does not count
  CHECK(!takes(with(8, 4, 8192 - 4), size));  // no eights of elements
  CHECK(!takes(with(8, 4, 3), size));
  CHECK(!takes(with(8, 4, 32), size));
  CHECK(takes(with(8, 4, 0xFFFFFFE0), size));  // larger than all
  CHECK(!takes(with(0, 8, size + 4), size));
  CHECK(!takes(with(0, 8, size - 4), size));
  CHECK(!takes(with(0, 8, (1ULL << 32U) + size), size));
  CHECK(!takes(frame, size + 4));
  CHECK(!takes(with(12, 4, 0), size));
  CHECK(!takes(with(12, 4, 0xFFFFFFFF), size));
  // Three elements follow the blocks uncompressed; further bytes are ignored.
  bytes longer = frame;
  longer.resize(frame.size() + 5);
  CHECK(takes(longer, size));
  // Not whole elements.
  bytes odd = with(0, 8, size + 1);
  odd.resize(frame.size() + 1);
  CHECK(!takes(odd, size + 1));
}

TEST_CASE("bit blocks: if a frame does not say a block's size, it is the filter's",
          "[device][host]") {
  const setting of{any_compression(), GENERATE(1U, 2U, 3U, 8U, 12U, 300U, 9000U)};
  content_maker make{of.element};
  const bytes plain = draw(make, of.element * 403);
  bytes frame = bitshuffled(plain, of.element, 0, of.compression);
  set_number(frame, 8, 4, 0);
  CAPTURE(of.element);
  REQUIRE(by_filter(of, frame, plain.size()) == plain);
  CHECK(by_feedline(of, frame, plain.size()) == plain);
}

TEST_CASE("bit blocks: a header that cannot be right begins no frame", "[device][host]") {
  bytes header(12);
  const auto read = [&](std::uint32_t room, std::uint32_t block, std::uint32_t element) {
    set_number(header, 0, 8, room);
    set_number(header, 8, 4, block);
    return detail::read_bit_blocks_header({header.data(), 12, nullptr, room}, element);
  };
  CHECK(read(800, 64, 4).elements == 16);
  CHECK(read(800, 64, 4).block_bytes == 64);
  CHECK(read(800, 64, 4).framed_bytes == 800);
  CHECK(read(804, 64, 4).framed_bytes == 800);
  CHECK(read(802, 64, 4).elements == 0);  // no whole elements
  CHECK(read(800, 48, 4).elements == 0);  // no eights of them
  CHECK(read(800, 3, 4).elements == 0);
  CHECK(read(28, 64, 4).framed_bytes == 0);  // fewer than eight
  CHECK(detail::read_bit_blocks_header({header.data(), 11, nullptr, 28}, 4).elements == 0);
  // Blocks of more than 2^32 bytes contain everything.
  constexpr std::uint32_t large = 1U << 27U;
  CHECK(read(8 * large, 0, large).elements == 128);
  CHECK(read(8 * large, 0, large).block_bytes == 8 * large);
}

TEST_CASE("bit blocks: every end may be missing", "[device][host]") {
  const setting of{any_compression(), 2};
  content_maker make{3};
  const bytes plain = draw(make, 2 * 403);
  const bytes frame = bitshuffled(plain, 2, 128, of.compression);
  REQUIRE(by_feedline(of, frame, plain.size(), {.warps = 2}) == plain);
  for (std::size_t size = 0; size < frame.size(); ++size) {
    const bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    CAPTURE(size);
    REQUIRE(!by_filter(of, cut, plain.size()));
    REQUIRE(!by_feedline(of, cut, plain.size(), {size % 4, size % 16, size % 2 != 0, 2}));
  }
}

TEST_CASE("bit blocks: damaged blocks are taken only if the filter decodes them to the same bytes",
          "[device][host]") {
  const setting of{any_compression(), 4};
  content_maker make{GENERATE(1U, 2U, 3U)};
  std::size_t good = 0;
  constexpr std::size_t tries = 300;
  for (std::size_t i = 0; i < tries; ++i) {
    const bytes plain = draw(make, 4 * (8 + make.below(1500)));
    const bytes frame = bitshuffled(plain, 4, 8 * make.below(20), of.compression);
    std::vector<unsigned char> packed(frame.size());
    std::transform(frame.begin(), frame.end(), packed.begin(),
                   [](std::byte each) { return static_cast<unsigned char>(each); });
    make.damage(packed);
    const auto* const raw = reinterpret_cast<const std::byte*>(packed.data());
    const bytes damaged(raw, raw + packed.size());
    const way how = any_way(make);
    CAPTURE(i, plain.size(), how.lead, how.to_lead, how.warps);
    const auto seen = by_feedline(of, damaged, plain.size(), how);
    if (seen) REQUIRE(seen == by_filter(of, damaged, plain.size()));
    good += seen ? 1 : 0;
  }
  CHECK(good > 0);
  CHECK(good < tries * 3 / 4);
}
