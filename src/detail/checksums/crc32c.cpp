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

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(byte_span bytes,
                                                               std::uint64_t crc) noexcept {
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) crc = _mm_crc32_u64(crc, crc_word(bytes.data() + at));
  auto narrow = static_cast<std::uint32_t>(crc);
  for (; at < bytes.size(); ++at)
    narrow = _mm_crc32_u8(narrow, std::to_integer<unsigned char>(bytes[at]));
  return narrow;
}

bool has_instruction() noexcept {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

std::uint32_t by_instruction(byte_span bytes, std::uint64_t before) noexcept {
  auto crc = static_cast<std::uint32_t>(before);
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) crc = __crc32cd(crc, crc_word(bytes.data() + at));
  for (; at < bytes.size(); ++at) crc = __crc32cb(crc, std::to_integer<unsigned char>(bytes[at]));
  return crc;
}

constexpr bool has_instruction() noexcept {
  return true;
}

#else

std::uint32_t by_instruction(byte_span bytes, std::uint64_t before) noexcept {
  return ~crc32c_by_tables(bytes, ~static_cast<std::uint32_t>(before));
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
