#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

/// 16 bytes that are worked on at once. The compilers' own vector type rather than intrinsics: the
/// same code is SSE2 on x86-64, NEON on ARM, and plain code elsewhere.
using byte_vector __attribute__((vector_size(16))) = std::uint8_t;

[[nodiscard]] inline byte_vector load_bytes(const std::byte* from) noexcept {
  byte_vector bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

inline void store_bytes(byte_vector bytes, std::byte* to) noexcept {
  std::memcpy(to, &bytes, sizeof bytes);
}

/// Turns N rows of 16 bytes into 16 columns of N: byte j of row i goes to place j * N + i.
/// @tparam N A power of two.
template <std::size_t N>
inline void interleave(byte_vector (&rows)[N]) noexcept {
  static_assert((N & (N - 1)) == 0);
  for (std::size_t stage = 1; stage < N; stage *= 2) {
    byte_vector next[N];
    for (std::size_t i = 0; i < N / 2; ++i) {
      const byte_vector a = rows[i];
      const byte_vector b = rows[i + N / 2];
      next[2 * i] =
          __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                                14, 30, 15, 31);
    }
    for (std::size_t i = 0; i < N; ++i) rows[i] = next[i];
  }
}

/// Puts elements together from planes: first all elements' first bytes, then all second ones, …
/// @param count Elements. @param size Bytes of one, not 0. @param out May not overlap the planes.
void join_byte_planes(const std::byte* planes, std::size_t count, std::size_t size,
                      std::byte* out) noexcept;

}  // namespace feedline::detail
