#include "detail/checksums/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace feedline::detail {
namespace {

using byte_span = std::span<const std::byte>;

/// crc_tables[k][b]: what a byte b becomes after k further bytes of zeros.
constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> made{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1) * 0x82f63b78U;
    made[0][byte] = crc;
  }
  for (std::size_t k = 1; k < made.size(); ++k)
    for (std::uint32_t byte = 0; byte < 256; ++byte)
      made[k][byte] = made[k - 1][byte] >> 8 ^ made[0][made[k - 1][byte] & 0xff];
  return made;
}();

std::uint64_t crc_word(const std::byte* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint32_t crc_step(std::uint32_t crc, std::byte byte) noexcept {
  return crc >> 8 ^ crc_tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
}

/// Product of two polynomials modulo that of CRC-32C. Bit 31 is x^0, as in a checksum.
constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t made = 0;
  for (int bit = 31; bit >= 0; --bit) {
    made ^= (a >> bit & 1) * b;
    b = b >> 1 ^ (b & 1) * 0x82f63b78U;
  }
  return made;
}

/// x^(8 * bytes): a checksum times this is the checksum after so many further bytes of zeros.
constexpr std::uint32_t zeros(std::size_t bytes) {
  std::uint32_t made = 1U << 31;
  for (std::uint32_t base = 1U << 23; bytes != 0; bytes >>= 1, base = product(base, base))
    if ((bytes & 1) != 0) made = product(made, base);
  return made;
}

/// The instruction's result is there after three cycles, and it can begin each cycle. So three
/// lanes of this many bytes are computed side by side.
constexpr std::size_t lane_bytes = 1024;

/// lane_tables[k][b]: what byte k of a checksum, if it is b, becomes after a lane of zeros.
constexpr auto lane_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 4> made{};
  for (unsigned k = 0; k < made.size(); ++k) {
    for (unsigned bit = 0; bit < 8; ++bit)
      made[k][1U << bit] = product(zeros(lane_bytes), 1U << (8 * k + bit));
    for (std::uint32_t byte = 1; byte < 256; ++byte)
      made[k][byte] = made[k][byte & (byte - 1)] ^ made[k][byte & (~byte + 1)];
  }
  return made;
}();

[[maybe_unused]] std::uint64_t after_lane(std::uint64_t crc) noexcept {  // without the instruction
  return lane_tables[0][crc & 0xff] ^ lane_tables[1][crc >> 8 & 0xff] ^
         lane_tables[2][crc >> 16 & 0xff] ^ lane_tables[3][crc >> 24 & 0xff];
}

#if defined(__x86_64__)
#define FEEDLINE_CRC_TARGET __attribute__((target("sse4.2")))

FEEDLINE_CRC_TARGET inline std::uint64_t add_word(std::uint64_t crc, const std::byte* at) noexcept {
  return _mm_crc32_u64(crc, crc_word(at));
}
FEEDLINE_CRC_TARGET inline std::uint64_t add_byte(std::uint64_t crc, std::byte byte) noexcept {
  return _mm_crc32_u8(static_cast<std::uint32_t>(crc), std::to_integer<unsigned char>(byte));
}

bool has_instruction() noexcept {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
#define FEEDLINE_CRC_TARGET

inline std::uint64_t add_word(std::uint64_t crc, const std::byte* at) noexcept {
  return __crc32cd(static_cast<std::uint32_t>(crc), crc_word(at));
}
inline std::uint64_t add_byte(std::uint64_t crc, std::byte byte) noexcept {
  return __crc32cb(static_cast<std::uint32_t>(crc), std::to_integer<unsigned char>(byte));
}

constexpr bool has_instruction() noexcept {
  return true;
}

#endif

#ifdef FEEDLINE_CRC_TARGET

FEEDLINE_CRC_TARGET std::uint32_t by_instruction(byte_span bytes, std::uint32_t before) noexcept {
  std::uint64_t crc = before;
  std::size_t at = 0;
  for (; bytes.size() - at >= 3 * lane_bytes; at += 3 * lane_bytes) {
    const std::byte* lane = bytes.data() + at;
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (std::size_t i = 0; i < lane_bytes; i += 8) {
      crc = add_word(crc, lane + i);
      second = add_word(second, lane + lane_bytes + i);
      third = add_word(third, lane + 2 * lane_bytes + i);
    }
    crc = after_lane(after_lane(crc) ^ second) ^ third;
  }
  for (; bytes.size() - at >= 8; at += 8) crc = add_word(crc, bytes.data() + at);
  for (; at < bytes.size(); ++at) crc = add_byte(crc, bytes[at]);
  return static_cast<std::uint32_t>(crc);
}
#undef FEEDLINE_CRC_TARGET

#else

std::uint32_t by_instruction(byte_span bytes, std::uint32_t before) noexcept {
  return ~crc32c_by_tables(bytes, ~before);
}

constexpr bool has_instruction() noexcept {
  return false;
}

#endif

}  // namespace

std::uint32_t crc32c_by_tables(byte_span bytes, std::uint32_t before) noexcept {
  std::uint32_t crc = ~before;
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little)
    for (; bytes.size() - at >= 8; at += 8) {
      const std::uint64_t word = crc_word(bytes.data() + at) ^ crc;
      crc = 0;
      for (unsigned k = 0; k < 8; ++k) crc ^= crc_tables[7 - k][word >> 8 * k & 0xff];
    }
  for (; at < bytes.size(); ++at) crc = crc_step(crc, bytes[at]);
  return ~crc;
}

std::uint32_t crc32c(byte_span bytes, std::uint32_t before) noexcept {
  return has_instruction() ? ~by_instruction(bytes, ~before) : crc32c_by_tables(bytes, before);
}

}  // namespace feedline::detail
