#pragma once

#include "codecs/inflate/bit_reader.hpp"
#include "codecs/inflate/huffman.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// Literals that are the next symbols of a stream.
template <class Warp>
struct literal_run {
  typename Warp::template per_lane<std::uint32_t> values;  ///< one for each lane that has one
  std::uint32_t lanes;  ///< those that have one, a bit each, in the literals' order
  std::uint32_t bits;   ///< bits of their codes, together
  bool ends;            ///< whether no literal of a short code follows
};

/// Finds literals by all lanes of a warp at once, about as many as 28 bits have. Each lane looks up
/// the symbol that would begin at its own bit. A symbol begins where the one before it ends, so the
/// lanes follow these steps from the first bit on, and in each round twice as far.
/// @param in `need` must have made 32 bits ready.
template <class Warp, class Team, std::uint32_t FastBits, std::uint32_t Symbols>
FEEDLINE_HOST_DEVICE literal_run<Warp> find_literals(Warp& warp, const bit_reader<Team>& in,
                                                     const huffman_code<FastBits, Symbols>& code) {
  using std::uint32_t;
  constexpr uint32_t rounds = 3;  // 8 literals
  const auto is_whole = [&](uint32_t at) {
    return at < Warp::lanes && at + FastBits <= in.ready();
  };
  const auto symbol_at = [&](uint32_t lane) {
    const auto bits = static_cast<uint32_t>(in.bits() >> lane);
    return is_whole(lane) ? code.fast[bits & (code.fast_entries - 1)] : 0;
  };
  const auto words = warp.map(symbol_at);
  const auto is_literal = [&](uint32_t lane) { return symbol_entry{words[lane]}.is_value(); };
  const uint32_t literals = warp.ballot(warp.map(is_literal));
  auto symbols = warp.map([](uint32_t lane) { return uint32_t{1} << lane; });
  auto end = warp.map([&](uint32_t lane) {
    return is_literal(lane) ? lane + symbol_entry{words[lane]}.code_bits() : lane;
  });
  for (uint32_t round = 0; round < rounds; ++round) {
    const auto more = warp.gather(symbols, end);
    const auto further = warp.gather(end, end);
    const auto before = end;
    symbols = warp.map([&](uint32_t lane) {
      return before[lane] < Warp::lanes ? symbols[lane] | more[lane] : symbols[lane];
    });
    end = warp.map(
        [&](uint32_t lane) { return before[lane] < Warp::lanes ? further[lane] : before[lane]; });
  }
  const uint32_t after = warp.from(end, 0);
  return {warp.map([&](uint32_t lane) { return symbol_entry{words[lane]}.value(); }),
          warp.from(symbols, 0) & literals, after,
          is_whole(after) && (literals >> after & 1U) == 0};
}

}  // namespace feedline::detail
