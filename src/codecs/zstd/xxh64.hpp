#pragma once

#include "codecs/lz/bits.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// XXH64 with seed 0 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), computed by four lanes.
template <class Warp>
class xxh64 {
 public:
  static_assert(Warp::lanes >= 4);

  FEEDLINE_HOST_DEVICE static std::uint64_t of(Warp& warp, const std::byte* from,
                                               std::uint32_t bytes) {
    using std::uint32_t;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(from) % 8 == 0;
    const auto word = [&](uint32_t at) {
      return is_aligned ? *reinterpret_cast<const std::uint64_t*>(from + at)
                        : little_endian(from + at, 8);
    };
    const uint32_t striped = bytes / 32 * 32;
    std::uint64_t sum = prime5;
    if (striped > 0) {
      const auto sums = warp.map([&](uint32_t lane) -> std::uint64_t {
        if (lane >= 4) return 0;
        std::uint64_t own = lane == 0 ? prime1 + prime2 : lane == 1 ? prime2 : 0;
        if (lane == 3) own -= prime1;
        for (uint32_t at = 8 * lane; at < striped; at += 32) own = mixed(own, word(at));
        return own;
      });
      const std::uint64_t all[] = {warp.from(sums, 0), warp.from(sums, 1), warp.from(sums, 2),
                                   warp.from(sums, 3)};
      sum = rotated(all[0], 1) + rotated(all[1], 7) + rotated(all[2], 12) + rotated(all[3], 18);
      for (const std::uint64_t each : all) sum = (sum ^ mixed(0, each)) * prime1 + prime4;
    }
    sum += bytes;
    uint32_t at = striped;
    for (; at + 8 <= bytes; at += 8) sum = rotated(sum ^ mixed(0, word(at)), 27) * prime1 + prime4;
    if (at + 4 <= bytes) {
      sum = rotated(sum ^ little_endian(from + at, 4) * prime1, 23) * prime2 + prime3;
      at += 4;
    }
    for (; at < bytes; ++at)
      sum = rotated(sum ^ static_cast<std::uint64_t>(from[at]) * prime5, 11) * prime1;
    sum = (sum ^ sum >> 33U) * prime2;
    sum = (sum ^ sum >> 29U) * prime3;
    return sum ^ sum >> 32U;
  }

 private:
  static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87ULL;
  static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4FULL;
  static constexpr std::uint64_t prime3 = 0x165667B19E3779F9ULL;
  static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63ULL;
  static constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5ULL;

  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint64_t rotated(std::uint64_t value,
                                                                  std::uint32_t bits) {
    return value << bits | value >> (64 - bits);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint64_t mixed(std::uint64_t sum,
                                                                std::uint64_t word) {
    return rotated(sum + word * prime2, 31) * prime1;
  }
};

}  // namespace feedline::detail
