#pragma once

#include "codecs/zstd/fse.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// Meaning of the codes of sequences, and their counts if a block does not give them (RFC 8878,
// sections 3.1.1.3.2.1.1 and 3.1.1.3.2.2).

/// The three numbers of a sequence, in the order in which a block gives their tables.
enum class sequence_field : std::uint8_t { literals, offset, match };

struct sequence_code {
  std::uint32_t base;
  std::uint32_t extra;  ///< bits that are added to it
};

/// Codes of lengths. The first codes are the numbers themselves. The next eight codes are alike for
/// literals and matches, and each code after them has one bit more.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline sequence_code literals_code(std::uint32_t code) {
  if (code < 16) return {code, 0};
  if (code > 24) return {1U << (code - 19), code - 19};
  if (code == 24) return {48, 4};
  const std::uint32_t at = code - 16;
  return {16 + static_cast<std::uint32_t>(0x18'10'0C'08'06'04'02'00ULL >> (8 * at) & 0xFFU),
          0x33221111U >> (4 * at) & 0xFU};
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline sequence_code match_code(std::uint32_t code) {
  constexpr std::uint32_t shortest = 3;
  if (code < 32) return {code + shortest, 0};
  if (code > 42) return {(1U << (code - 36)) + shortest, code - 36};
  if (code >= 40) return {64 + 16 * (code - 40) + shortest, code < 42 ? 4U : 5U};
  const std::uint32_t at = code - 32;
  return {
      32 + shortest + static_cast<std::uint32_t>(0x18'10'0C'08'06'04'02'00ULL >> (8 * at) & 0xFFU),
      0x33221111U >> (4 * at) & 0xFU};
}

/// Limits and defaults of a field's tables.
struct sequence_limits {
  std::uint32_t max_symbol;
  std::uint32_t max_log;
  std::uint32_t default_symbols;
  std::uint32_t default_log;
};

[[nodiscard]] FEEDLINE_HOST_DEVICE inline sequence_limits limits_of(sequence_field field) {
  switch (field) {
    case sequence_field::literals:
      return {35, 9, 36, 6};
    case sequence_field::offset:
      return {31, 8, 29, 5};
    case sequence_field::match:
      break;
  }
  return {52, 9, 53, 6};
}

/// Count of a code, as in `fse_scratch::count`.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::int16_t default_count(sequence_field field,
                                                                     std::uint32_t code) {
  switch (field) {
    case sequence_field::literals:
      if (code == 0) return 4;
      if (code == 1 || code == 25) return 3;
      if (code > 31) return -1;
      return code < 13 || (code > 15 && code < 27) ? 2 : 1;
    case sequence_field::offset:
      if (code > 23) return -1;
      return code > 5 && code < 9 ? 2 : 1;
    case sequence_field::match:
      break;
  }
  if (code > 45) return -1;
  return code == 1 ? 4 : code == 2 ? 3 : code > 2 && code < 9 ? 2 : 1;
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline fse_entry entry_of(sequence_field field,
                                                             std::uint32_t bits, std::uint32_t code,
                                                             std::uint32_t next) {
  std::uint32_t extra = code;  // bits of an offset
  if (field == sequence_field::literals) extra = literals_code(code).extra;
  if (field == sequence_field::match) extra = match_code(code).extra;
  return fse_entry::make(extra, bits, code, next);
}

}  // namespace feedline::detail
