/// Frames of Blosc, decoded by warps of the host: against libblosc.

#include "support/checks/catch.hpp"
#include "support/files/blosc_frames.hpp"
#include "support/files/content_maker.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <blosc.h>

using namespace feedline;
using namespace feedline::test;

namespace {

using bytes = std::vector<std::byte>;

/// How a frame is packed.
struct setting {
  std::string compressor;
  int shuffle = 1;
  std::size_t element = 4;
  std::size_t block = 0;  ///< 0: as the library likes
};

bytes packed(const bytes& raw, const setting& how) {
  bytes frame(raw.size() + BLOSC_MAX_OVERHEAD);
  const int size =
      blosc_compress_ctx(5, how.shuffle, how.element, raw.size(), raw.data(), frame.data(),
                         frame.size(), how.compressor.c_str(), how.block, 1);
  REQUIRE(size > 0);
  frame.resize(static_cast<std::size_t>(size));
  return frame;
}

bytes draw(content_maker& make, std::size_t size) {
  const auto plain = make.plain(make.below(content_maker::kinds), size);
  const auto all = std::as_bytes(std::span{plain});
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("blosc frames: what libblosc packs is decoded, in blocks of any size, split or not",
          "[device][host]") {
  const std::string compressor = GENERATE("lz4", "lz4hc", "zstd", "zlib");
  const int shuffle = GENERATE(0, 1, 2);
  const int split = GENERATE(BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT, BLOSC_FORWARD_COMPAT_SPLIT);
  blosc_set_splitmode(split);
  content_maker make{static_cast<std::uint32_t>(shuffle * 8 + split)};
  for (const std::size_t element : {1U, 2U, 3U, 4U, 8U, 16U, 17U, 255U})
    for (const std::size_t size : {1U, 7U, 127U, 128U, 4096U, 70'001U, 300'000U})
      for (const std::size_t block : {0U, 512U, 4096U, 100'000U}) {
        const bool is_large = size > 10'000;
        if (is_large && (block == 512 || (element != 4 && element != 17))) continue;
        const bytes plain = draw(make, size);
        const bytes frame = packed(plain, {compressor, shuffle, element, block});
        CAPTURE(compressor, shuffle, split, element, size, block, frame.size());
        const auto expected = decode_blosc_by_library(frame, size);
        // The library splits small blocks so, too, and then does not decode what it packed.
        if (split == BLOSC_ALWAYS_SPLIT && !expected) continue;
        REQUIRE(expected == plain);
        const auto warps = static_cast<std::uint32_t>(1 + make.below(9));
        REQUIRE(decode_blosc_by_warps<32>(frame, size, warps, make.below(4), make.below(2) == 0) ==
                plain);
        CHECK(!decode_blosc_by_warps<32>(frame, size + 1, 1, 0, false));
      }
  blosc_set_splitmode(BLOSC_FORWARD_COMPAT_SPLIT);
}

TEST_CASE("blosc frames: other compressors and formats are refused", "[device][host]") {
  const bytes plain(5000, std::byte{7});
  bytes frame = packed(plain, {"blosclz", 1, 4, 0});
  CHECK(!decode_blosc_by_warps<32>(frame, plain.size(), 1, 0, false));
  frame = packed(plain, {"lz4", 1, 4, 0});
  REQUIRE(decode_blosc_by_warps<32>(frame, plain.size(), 1, 0, false));
  for (const auto& [at, value] : std::vector<std::pair<std::size_t, int>>{
           {0, 5}, {3, 0}, {4, 1}, {8, 0}, {12, 255}, {13, 255}}) {
    bytes changed = frame;
    changed[at] = static_cast<std::byte>(value);
    if (at == 8) std::fill_n(changed.begin() + 8, 4, std::byte{0});
    CAPTURE(at);
    CHECK(!decode_blosc_by_warps<32>(changed, plain.size(), 2, 0, false));
  }
}

TEST_CASE("blosc frames: damaged ones are never read or written past their ends",
          "[device][host]") {
  content_maker make{77};
  std::size_t taken = 0;
  for (int turn = 0; turn < 600; ++turn) {
    const std::size_t size = 1 + make.below(9000);
    const bytes plain = draw(make, size);
    bytes frame = packed(plain, {std::vector<std::string>{"lz4", "zstd", "zlib"}[make.below(3)],
                                 static_cast<int>(make.below(3)), std::size_t{1} << make.below(4),
                                 make.below(2) * 512});
    if (make.below(3) == 0) {
      frame.resize(make.below(frame.size()));
    } else {
      for (std::uint64_t i = make.below(4); i < 4; ++i)
        frame[make.below(make.below(2) == 0 ? std::min<std::size_t>(frame.size(), 40)
                                            : frame.size())] =
            static_cast<std::byte>(make.below(256));
    }
    const auto seen = decode_blosc_by_warps<32>(frame, size, 3, make.below(4), false);
    taken += seen ? 1 : 0;
    // libblosc looks at less: what it gives may be anything, but what we give it gives, too.
    if (seen) {
      const auto expected = decode_blosc_by_library(frame, size);
      if (expected) CHECK(*seen == *expected);
    }
  }
  CHECK(taken > 20);
}
