#pragma once

#include "codecs/inflate/bit_reader.hpp"
#include "codecs/team.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

// Huffman codes of deflate (RFC 1951, section 3.2). A symbol is decoded by one lookup of the next
// bits in a table; a code that is longer than the table's bits is decoded by its index among all
// codes of its length.

/// Meaning of a code's symbols.
enum class huffman_alphabet : std::uint8_t { lengths, literals, distances };

enum class symbol_kind : std::uint8_t { none, copy, end, value = 4 };

/// A decoded symbol, in a word: 0 is no symbol.
struct symbol_entry {
  std::uint32_t word;

  [[nodiscard]] FEEDLINE_HOST_DEVICE static symbol_entry make(symbol_kind kind, std::uint32_t value,
                                                              std::uint32_t extra,
                                                              std::uint32_t code_bits) {
    return {value << 16U | static_cast<std::uint32_t>(kind) << 8U | extra << 4U | code_bits};
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t code_bits() const { return word & 15U; }
  /// Bits that follow the code and are added to the value.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t extra() const { return word >> 4U & 15U; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE symbol_kind kind() const {
    return static_cast<symbol_kind>(word >> 8U & 7U);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_value() const { return (word >> 10U & 1U) != 0; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t value() const { return word >> 16U; }
};

inline constexpr std::uint32_t max_code_bits = 15;

/// A code, and the tables that decode it. Memory that a team shares.
template <std::uint32_t FastBits, std::uint32_t Symbols>
struct huffman_code {
  static constexpr std::uint32_t fast_bits = FastBits;
  static constexpr std::uint32_t fast_entries = 1U << FastBits;

  std::uint32_t fast[fast_entries];          ///< entries, by the next bits; 0: the code is longer
  std::uint16_t sorted[Symbols];             ///< symbols, in order of their codes
  std::uint16_t first[max_code_bits + 1];    ///< first code of each length,
  std::uint16_t begin[max_code_bits + 1];    ///< its index in `sorted`,
  std::uint16_t counted[max_code_bits + 1];  ///< and the number of codes of that length
  std::uint16_t next[max_code_bits + 1];
};

/// The lowest 15 bits, in reverse order.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline std::uint32_t reversed_bits(std::uint32_t bits) {
  bits = (bits & 0x5555U) << 1U | (bits >> 1U & 0x5555U);
  bits = (bits & 0x3333U) << 2U | (bits >> 2U & 0x3333U);
  bits = (bits & 0x0F0FU) << 4U | (bits >> 4U & 0x0F0FU);
  return ((bits & 0x00FFU) << 8U | bits >> 8U) >> 1U;
}

[[nodiscard]] FEEDLINE_HOST_DEVICE inline symbol_entry entry_of(huffman_alphabet alphabet,
                                                                std::uint32_t symbol,
                                                                std::uint32_t code_bits) {
  const auto entry = [&](symbol_kind kind, std::uint32_t value, std::uint32_t extra) {
    return symbol_entry::make(kind, value, extra, code_bits);
  };
  if (alphabet == huffman_alphabet::lengths) return entry(symbol_kind::value, symbol, 0);
  if (alphabet == huffman_alphabet::distances) {
    if (symbol >= 30) return entry(symbol_kind::none, 0, 0);
    if (symbol < 4) return entry(symbol_kind::copy, symbol + 1, 0);
    const std::uint32_t extra = symbol / 2 - 1;
    return entry(symbol_kind::copy, 1 + ((2 + symbol % 2) << extra), extra);
  }
  if (symbol < 256) return entry(symbol_kind::value, symbol, 0);
  if (symbol == 256) return entry(symbol_kind::end, 0, 0);
  if (symbol < 265) return entry(symbol_kind::copy, symbol - 254, 0);
  if (symbol == 285) return entry(symbol_kind::copy, 258, 0);
  if (symbol > 285) return entry(symbol_kind::none, 0, 0);
  const std::uint32_t extra = (symbol - 261) / 4;
  return entry(symbol_kind::copy, 3 + ((4 + (symbol - 265) % 4) << extra), extra);
}

/// Stores the number of codes of each length, and where they begin.
/// @return Whether they are a code that zlib accepts: one in which every sequence of bits means a
/// symbol, or, except in the alphabet of lengths, one code of a single bit.
template <class Team, std::uint32_t FastBits, std::uint32_t Symbols>
FEEDLINE_HOST_DEVICE bool lay_out(huffman_code<FastBits, Symbols>& code, const std::uint8_t* bits,
                                  std::uint32_t symbols, huffman_alphabet alphabet) {
  for (std::uint32_t i = Team::lane(); i <= max_code_bits; i += Team::width) code.counted[i] = 0;
  Team::sync();
  for (std::uint32_t first = 0; first < symbols; first += Team::width) {
    const std::uint32_t symbol = first + Team::lane();
    const std::uint32_t length = symbol < symbols ? bits[symbol] : 0;
    const team_peers same = Team::peers(length);
    if (same.rank == 0) code.counted[length] += static_cast<std::uint16_t>(same.size);
    Team::sync();
  }
  if (Team::lane() == 0) code.first[0] = code.next[0] = code.begin[0] = 0;
  std::int32_t left = 1;
  std::uint32_t longest = 0;
  std::uint32_t next = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t length = 1; length <= max_code_bits; ++length) {
    const std::uint32_t counted = code.counted[length];
    left = 2 * left - static_cast<std::int32_t>(counted);
    if (left < 0) return false;
    next *= 2;
    if (Team::lane() == 0) {
      code.first[length] = code.next[length] = static_cast<std::uint16_t>(next);
      code.begin[length] = static_cast<std::uint16_t>(begin);
    }
    next += counted;
    begin += counted;
    if (counted != 0) longest = length;
  }
  Team::sync();
  return left == 0 || longest == 0 || (longest == 1 && alphabet != huffman_alphabet::lengths);
}

/// Makes a code from the lengths of its symbols' codes. @param bits Length for each symbol; 0: it
/// has none.
/// @return Whether the lengths make a valid code.
template <class Team, std::uint32_t FastBits, std::uint32_t Symbols>
FEEDLINE_HOST_DEVICE bool build(huffman_code<FastBits, Symbols>& code, const std::uint8_t* bits,
                                std::uint32_t symbols, huffman_alphabet alphabet) {
  Team::sync();  // other threads may still use the old tables
  for (std::uint32_t i = Team::lane(); i < code.fast_entries; i += Team::width) code.fast[i] = 0;
  if (!lay_out<Team>(code, bits, symbols, alphabet)) return false;
  for (std::uint32_t first = 0; first < symbols; first += Team::width) {
    const std::uint32_t symbol = first + Team::lane();
    const std::uint32_t length = symbol < symbols ? bits[symbol] : 0;
    const team_peers same = Team::peers(length);
    const std::uint32_t number = code.next[length] + same.rank;
    Team::sync();
    if (length != 0) {
      code.sorted[code.begin[length] + number - code.first[length]] =
          static_cast<std::uint16_t>(symbol);
      if (same.rank == 0) code.next[length] = static_cast<std::uint16_t>(number + same.size);
    }
    const std::uint32_t entry = length != 0 ? entry_of(alphabet, symbol, length).word : 0;
    const std::uint32_t low = reversed_bits(number) >> (max_code_bits - length);
    for (std::uint32_t lane = 0; lane < Team::width; ++lane) {
      const std::uint32_t its_length = Team::from(length, lane);
      if (its_length == 0 || its_length > FastBits) continue;
      const std::uint32_t its_entry = Team::from(entry, lane);
      const std::uint32_t its_low = Team::from(low, lane);
      for (std::uint32_t at = its_low + (Team::lane() << its_length); at < code.fast_entries;
           at += Team::width << its_length)
        code.fast[at] = its_entry;
    }
    Team::sync();
  }
  return true;
}

/// Decodes the next symbol, and drops its code; the word is 0 if there is none. `need` must have
/// made 15 bits ready.
template <class Team, std::uint32_t FastBits, std::uint32_t Symbols>
FEEDLINE_HOST_DEVICE symbol_entry decode(bit_reader<Team>& in,
                                         const huffman_code<FastBits, Symbols>& code,
                                         huffman_alphabet alphabet) {
  symbol_entry found{code.fast[in.peek(FastBits)]};
  if (found.word == 0) {
    const std::uint32_t next = reversed_bits(in.peek(max_code_bits));
    for (std::uint32_t length = FastBits + 1; length <= max_code_bits; ++length) {
      const std::uint32_t number = (next >> (max_code_bits - length)) - code.first[length];
      if (number < code.counted[length]) {
        found = entry_of(alphabet, code.sorted[code.begin[length] + number], length);
        break;
      }
    }
  }
  in.drop(found.code_bits());
  return found;
}

}  // namespace feedline::detail
