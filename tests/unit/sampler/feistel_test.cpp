#include <feedline/detail/splitmix64.hpp>

#include "sampler/bijection.hpp"
#include "support/checks/catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using feedline::detail::feistel;

namespace {

/// A network over values of this many bits, with keys drawn from a seed.
feistel network(unsigned bits, std::size_t rounds, std::uint64_t seed) {
  feistel drawn;
  drawn.right_bits = bits - bits / 2;
  drawn.left_mask = (std::uint64_t{1} << (bits / 2)) - 1;
  drawn.right_mask = (std::uint64_t{1} << drawn.right_bits) - 1;
  drawn.rounds = rounds;
  for (std::size_t i = 0; i < rounds; ++i)
    drawn.keys[i] = detail::mix(seed += detail::golden_gamma);
  return drawn;
}

}  // namespace

TEST_CASE("feistel: on every kind of processor deciphering inverts enciphering",
          "[sampler][host]") {
  const auto bits = GENERATE(2U, 3U, 16U, 21U, 39U, 40U, 41U, 63U, 64U);
  const feistel by = network(bits, bits < 8 ? 24 : 8, bits);
  const std::uint64_t all = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
  std::vector<std::uint64_t> values(3 * detail::max_encipher_lanes);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = detail::mix(i) & all;

  for (const detail::encipher_version& version : detail::encipher_versions()) {
    INFO(version.processor);
    REQUIRE(detail::max_encipher_lanes % version.lanes == 0);
    if (by.right_bits > version.max_half_bits) continue;
    std::vector<std::uint64_t> enciphered = values;
    version.encipher(by, enciphered);
    for (std::size_t i = 0; i < values.size(); ++i) {
      REQUIRE((enciphered[i] & ~all) == 0);
      REQUIRE(by.decipher(enciphered[i]) == values[i]);
    }
  }
}

TEST_CASE("feistel: a version for any processor is always among the versions", "[sampler][host]") {
  const auto versions = detail::encipher_versions();
  REQUIRE_FALSE(versions.empty());
  CHECK(std::string{versions.back().processor} == "any");
  CHECK(versions.back().max_half_bits == 32);
}

TEST_CASE("feistel: a version is chosen whose halves are wide enough", "[sampler][host]") {
  for (const unsigned bits : {2U, 40U, 41U, 64U}) {
    const detail::feistel by = network(bits, 8, bits);
    const detail::encipher_version& chosen = detail::encipher_version_for(by);
    INFO(bits << " bits, " << chosen.processor);
    CHECK(by.right_bits <= chosen.max_half_bits);
    for (const detail::encipher_version& version : detail::encipher_versions()) {
      if (version.processor == chosen.processor) break;
      CHECK(by.right_bits > version.max_half_bits);  // a faster one would do as well
    }
  }
}
