#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// Offsets that repeat one of the last three (RFC 8878, section 3.1.1.5). A sequence maps the last
// three offsets to the next last three: that is a function. The functions of neighboring lanes are
// composed, pair by pair, so that all lanes know their offset after log2(lanes) rounds.

/// The last three offsets, the newest first.
struct repeat_offsets {
  std::uint32_t last[3] = {1, 4, 8};
};

/// A function of three offsets: each result is a number, or one of the inputs less a number.
struct offsets_function {
  /// A number; or, with the highest bit set, the index of the input, plus four times the number to
  /// subtract.
  std::uint32_t to[3];

  static constexpr std::uint32_t from_one = 1U << 31U;
  /// Offsets are clamped to this: no block is so large.
  static constexpr std::uint32_t too_far = from_one - 1;

  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint32_t from(std::uint32_t which,
                                                               std::uint32_t less = 0) {
    return from_one | less << 2U | which;
  }
  /// @param coded 1 to 3 for one of the last three, else the offset + 3.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static offsets_function of(std::uint32_t coded,
                                                                bool no_literals) {
    if (coded > 3) {
      const std::uint32_t offset = coded - 3;
      return {{offset < too_far ? offset : too_far, from(0), from(1)}};
    }
    switch (coded - 1 + (no_literals ? 1 : 0)) {
      case 0:
        return {{from(0), from(1), from(2)}};
      case 1:
        return {{from(1), from(0), from(2)}};
      case 2:
        return {{from(2), from(0), from(1)}};
      default:
        return {{from(0, 1), from(0), from(1)}};
    }
  }
};

/// One result of `then` if its inputs are `first`, `second` and `third`. An offset of 0, which is
/// invalid, stays 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t offset_behind(std::uint32_t first,
                                                                      std::uint32_t second,
                                                                      std::uint32_t third,
                                                                      std::uint32_t then) {
  // Only selections, so that lanes do not diverge.
  const std::uint32_t which = then & 3U;
  const std::uint32_t less = (then & ~offsets_function::from_one) >> 2U;
  const std::uint32_t base = which == 0 ? first : which == 1 ? second : third;
  const std::uint32_t number = base > less ? base - less : 0;
  const std::uint32_t found =
      (base & offsets_function::from_one) != 0 ? base + (less << 2U) : number;
  return (then & offsets_function::from_one) != 0 ? found : then;
}

/// The same if nothing is subtracted.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t plain_offset_behind(std::uint32_t first,
                                                                            std::uint32_t second,
                                                                            std::uint32_t third,
                                                                            std::uint32_t then) {
  const std::uint32_t base = (then & 3U) == 0 ? first : (then & 3U) == 1 ? second : third;
  return (then & offsets_function::from_one) != 0 ? base : then;
}

/// The offsets of sequences; `repeats` becomes the last three after them. @param count Lanes with a
/// sequence.
template <class Warp>
FEEDLINE_HOST_DEVICE typename Warp::template per_lane<std::uint32_t> resolve_offsets(
    Warp& warp, repeat_offsets& repeats, std::uint32_t count,
    const typename Warp::template per_lane<std::uint32_t>& coded,
    const typename Warp::template per_lane<bool>& no_literals) {
  using std::uint32_t;
  const auto functions = warp.map([&](uint32_t lane) {
    return lane < count ? offsets_function::of(coded[lane], no_literals[lane])
                        : offsets_function::of(1, false);
  });
  auto first = warp.map([&](uint32_t lane) { return functions[lane].to[0]; });
  auto second = warp.map([&](uint32_t lane) { return functions[lane].to[1]; });
  auto third = warp.map([&](uint32_t lane) { return functions[lane].to[2]; });
  // Few batches subtract.
  const bool subtracts = warp.any(warp.map(
      [&](uint32_t lane) { return lane < count && coded[lane] == 3 && no_literals[lane]; }));
  for (uint32_t apart = 1; apart < Warp::lanes; apart *= 2) {
    const auto first_before = warp.before(first, apart);
    const auto second_before = warp.before(second, apart);
    const auto third_before = warp.before(third, apart);
    const auto joined = [&](const auto& then, auto join) {
      return warp.map([&](uint32_t lane) {
        return lane < apart
                   ? then[lane]
                   : join(first_before[lane], second_before[lane], third_before[lane], then[lane]);
      });
    };
    const auto join_all = [&](auto join) {
      first = joined(first, join);
      second = joined(second, join);
      third = joined(third, join);
    };
    if (subtracts)
      join_all([](uint32_t a, uint32_t b, uint32_t c, uint32_t then) {
        return offset_behind(a, b, c, then);
      });
    else
      join_all([](uint32_t a, uint32_t b, uint32_t c, uint32_t then) {
        return plain_offset_behind(a, b, c, then);
      });
  }
  const auto behind = [&](const auto& function) {
    return warp.map([&](uint32_t lane) {
      return offset_behind(repeats.last[0], repeats.last[1], repeats.last[2], function[lane]);
    });
  };
  const auto offsets = behind(first);
  const auto seconds = behind(second);
  const auto thirds = behind(third);
  repeats = {{warp.from(offsets, Warp::lanes - 1), warp.from(seconds, Warp::lanes - 1),
              warp.from(thirds, Warp::lanes - 1)}};
  return offsets;
}

}  // namespace feedline::detail
