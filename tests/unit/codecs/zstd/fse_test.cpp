/// Counts of tables: whatever says them, they are those of a table, or none.

#include "codecs/zstd/fse.hpp"

#include "support/checks/catch.hpp"
#include "support/devices/host_warp.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

fse_counts read(fse_scratch& scratch, const std::vector<std::byte>& from, std::uint32_t max_symbol,
                std::uint32_t max_log) {
  test::host_warp<4> warp;
  return read_fse_counts(warp, scratch, from.data(), static_cast<std::uint32_t>(from.size()),
                         max_symbol, max_log);
}

}  // namespace

TEST_CASE("zstd: counts fill their table, and are of symbols that there are", "[device][host]") {
  std::mt19937 random{GENERATE(1U, 2U, 3U)};
  const auto scratch = std::make_unique<fse_scratch>();
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> from(1 + random() % 24);
    for (auto& each : from) each = static_cast<std::byte>(random() | (i % 3 == 0 ? random() : 0));
    from[0] &= std::byte{0xF3};  // logs of 5 to 8
    const std::uint32_t max_symbol =
        i % 2 == 0 ? 31 : 3 + static_cast<std::uint32_t>(random() % 50);
    const fse_counts counts = read(*scratch, from, max_symbol, 8);
    if (counts.bytes == 0) continue;
    ++good;
    CAPTURE(i, max_symbol, counts.bytes, counts.symbols, counts.log);
    REQUIRE(counts.bytes <= from.size());
    REQUIRE(counts.symbols <= max_symbol + 1);
    REQUIRE(counts.log <= 8);
    int states = 0;
    for (std::uint32_t symbol = 0; symbol < counts.symbols; ++symbol)
      states += std::abs(int{scratch->count[symbol]});
    REQUIRE(states == 1 << counts.log);
  }
  CHECK(good > 100);
}

TEST_CASE("zstd: zeros without end are no counts", "[device][host]") {
  const auto scratch = std::make_unique<fse_scratch>();
  std::vector<std::byte> from(400, std::byte{0xFF});
  from[0] = std::byte{0x10};  // a log of 5, a count of 0, and then repeats of three
  from[1] = std::byte{0xFE};
  for (const std::uint32_t max_symbol : {31U, 52U, 255U})
    CHECK(read(*scratch, from, max_symbol, 6).bytes == 0);
}
