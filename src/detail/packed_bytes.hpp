#pragma once

#include "detail/host_device.hpp"

#include <cstdint>
#include <cstring>

namespace feedline::detail {

// Operations that a GPU does with the bytes of a word in one instruction. Byte 0 is the lowest.

/// Words that are loaded at once.
struct two_words {
  std::uint32_t word[2];
};

/// @param at A multiple of 8.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline two_words load_two_words(const std::uint8_t* at) {
  two_words words;
  std::memcpy(&words, __builtin_assume_aligned(at, sizeof words), sizeof words);
  return words;
}

/// @param at A multiple of 4.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t load_word(const std::uint8_t* at) {
  std::uint32_t word = 0;
  std::memcpy(&word, __builtin_assume_aligned(at, sizeof word), sizeof word);
  return word;
}

/// @param at A multiple of 4.
FEEDLINE_HOST_DEVICE inline void store_word(std::uint8_t* at, std::uint32_t word) {
  std::memcpy(__builtin_assume_aligned(at, sizeof word), &word, sizeof word);
}

/// @param at A multiple of 8.
FEEDLINE_HOST_DEVICE inline void store_two_words(std::uint8_t* at, const two_words& words) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<uint2*>(at) = {words.word[0], words.word[1]};  // nvcc splits a memcpy into
                                                                   // bytes
#else
  std::memcpy(__builtin_assume_aligned(at, sizeof words), &words, sizeof words);
#endif
}

/// Four of the bytes of two words. @param choice A hexadecimal digit for each byte of the result,
/// the lowest for byte 0: 0 to 3 are bytes of `low`, 4 to 7 of `high`.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t choose_bytes(std::uint32_t low,
                                                                     std::uint32_t high,
                                                                     std::uint32_t choice) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(low, high, choice);
#else
  const std::uint64_t both = std::uint64_t{high} << 32U | low;
  std::uint32_t chosen = 0;
  for (std::uint32_t bit = 0; bit < 32; bit += 8)
    chosen |= static_cast<std::uint32_t>(both >> (choice >> bit / 2 & 7U) * 8 & 255U) << bit;
  return chosen;
#endif
}

/// The highest bit of each byte that is zero.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t zero_bytes(std::uint32_t word) {
  constexpr std::uint32_t low = 0x7F7F7F7F;
  return ~(((word & low) + low) | word | low);
}

/// Adds the products of four bytes and four bytes, modulo 2^32.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t add_products(std::uint32_t bytes,
                                                                     std::uint32_t weights,
                                                                     std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  return __dp4a(bytes, weights, sum);
#else
  for (std::uint32_t bit = 0; bit < 32; bit += 8)
    sum += (bytes >> bit & 255U) * (weights >> bit & 255U);
  return sum;
#endif
}

/// Adds the products of two signed numbers of 16 bits and the unsigned bytes 0 and 1, modulo 2^32.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t add_low_products(std::uint32_t halves,
                                                                         std::uint32_t bytes,
                                                                         std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  std::uint32_t result;
  asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(halves), "r"(bytes), "r"(sum));
  return result;
#else
  const auto half = [](std::uint32_t word) {
    return static_cast<std::uint32_t>(static_cast<std::int16_t>(word & 0xFFFFU));
  };
  return sum + half(halves) * (bytes & 255U) + half(halves >> 16U) * (bytes >> 8U & 255U);
#endif
}

/// The same with bytes 2 and 3.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t add_high_products(std::uint32_t halves,
                                                                          std::uint32_t bytes,
                                                                          std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  std::uint32_t result;
  asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(halves), "r"(bytes), "r"(sum));
  return result;
#else
  return add_low_products(halves, bytes >> 16U, sum);
#endif
}

/// The same with bytes 2 and 3 that are signed.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t add_signed_high_products(
    std::uint32_t halves, std::uint32_t bytes, std::uint32_t sum) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(
      __dp2a_hi(static_cast<int>(halves), static_cast<int>(bytes), static_cast<int>(sum)));
#else
  // Unsigned, a negative byte is 256 more.
  const std::uint32_t negative = bytes >> 7U & 0x01010000U;
  return add_high_products(halves, bytes, sum) - (add_high_products(halves, negative, 0) << 8U);
#endif
}

}  // namespace feedline::detail
