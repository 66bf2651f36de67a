/// The offsets of a batch of sequences, computed by all lanes at once: against one by one.

#include "codecs/zstd/repeat_offsets.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/host_warp.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

using namespace feedline;
using namespace feedline::detail;

namespace {

/// The rule of RFC 8878, section 3.1.1.5.
std::uint32_t next_offset(std::array<std::uint32_t, 3>& last, std::uint32_t coded,
                          bool no_literals) {
  std::uint32_t offset = coded - 3;
  std::uint32_t kept = 2;  // number of last offsets kept after the new one
  if (coded <= 3) {
    const std::uint32_t which = coded - 1 + (no_literals ? 1 : 0);
    offset = which == 3 ? last[0] - 1 : last[which];
    kept = std::min(which, 2U);
  }
  for (std::uint32_t i = kept; i > 0; --i) last[i] = last[i - 1];
  last[0] = offset;
  return offset;
}

template <std::uint32_t Lanes>
void check(unsigned seed) {
  std::mt19937 random{seed};
  std::array<std::uint32_t, 3> last{1, 4, 8};
  repeat_offsets repeats;
  test::host_warp<Lanes> warp;
  for (int turn = 0; turn < 200; ++turn) {
    const std::uint32_t count = 1 + static_cast<std::uint32_t>(random()) % Lanes;
    typename test::host_warp<Lanes>::template per_lane<std::uint32_t> coded{};
    typename test::host_warp<Lanes>::template per_lane<bool> no_literals{};
    for (std::uint32_t lane = 0; lane < Lanes; ++lane) {
      coded[lane] = static_cast<std::uint32_t>(random() % 4 == 0 ? 1000 + random() % 100'000
                                                                 : 1 + random() % 3);
      no_literals[lane] = random() % 3 == 0;
    }
    const auto seen = resolve_offsets(warp, repeats, count, coded, no_literals);
    bool is_valid = true;
    for (std::uint32_t lane = 0; lane < count && is_valid; ++lane) {
      CAPTURE(seed, turn, lane);
      const std::uint32_t expected = next_offset(last, coded[lane], no_literals[lane]);
      REQUIRE(seen[lane] == expected);
      is_valid = expected != 0;
    }
    if (!is_valid) return;  // a decoder ends here
    REQUIRE(std::ranges::equal(repeats.last, last));
  }
}

}  // namespace

TEST_CASE("zstd: offsets that repeat the last ones are those that come one by one",
          "[device][host]") {
  const unsigned seed = GENERATE(range(1U, 40U));
  check<32>(seed);
  check<4>(seed);
}

TEST_CASE("zstd: offsets beyond any block stay beyond it", "[device][host]") {
  test::host_warp<4> warp;
  repeat_offsets repeats;
  const auto seen = resolve_offsets(warp, repeats, 3, {0xFFFFFFFFU, 3, 3, 1}, {false, true, true});
  for (std::uint32_t lane = 0; lane < 3; ++lane)
    CHECK(seen[lane] == offsets_function::too_far - lane);
  CHECK(repeats.last[0] == offsets_function::too_far - 2);
}

TEST_CASE("zstd: an offset less one that would be 0 stays 0", "[device][host]") {
  test::host_warp<4> warp;
  repeat_offsets repeats;
  const auto seen = resolve_offsets(warp, repeats, 3, {3, 3, 3, 1}, {true, true, true});
  for (std::uint32_t lane = 0; lane < 3; ++lane) CHECK(seen[lane] == 0);
}
