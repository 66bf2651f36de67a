#include "detail/checksums/highway_hash.hpp"

#include "support/checks/catch.hpp"

#include <cstddef>
#include <span>
#include <vector>

using namespace feedline;

TEST_CASE("highway hash: the authors' values, and the same with and without AVX2", "[host]") {
  const detail::highway_key key{0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110,
                                0x1f1e1d1c1b1a1918};
  std::vector<std::byte> bytes;
  const auto hash = [&] { return detail::highway_hash(key, bytes); };
  std::vector<std::uint64_t> first;
  for (std::size_t size = 0; size < 200; ++size) {
    REQUIRE(hash() == detail::highway_hash_by_words(key, bytes));
    if (size < 4) first.push_back(hash());
    bytes.push_back(std::byte(size));
  }
  CHECK(first == std::vector<std::uint64_t>{0x907a56de22c26e53, 0x7eab43aac7cddd78,
                                            0xb8d0569ab0b53d62, 0x5c6befab8a463d80});
}
