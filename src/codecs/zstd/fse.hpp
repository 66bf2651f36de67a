#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/team.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Codes of finite state entropy (RFC 8878, section 4.1): a state represents a symbol. It also gives
// the number of bits to read, and the base to add them to, for the next state.

/// A state's entry, in a word.
struct fse_entry {
  std::uint32_t word;

  /// @param extra Bits of the value that begins with the symbol. @param symbol 127 at most.
  [[nodiscard]] FEEDLINE_HOST_DEVICE static fse_entry make(std::uint32_t extra, std::uint32_t bits,
                                                           std::uint32_t symbol,
                                                           std::uint32_t next) {
    return {next << 23U | symbol << 16U | bits << 8U | extra};
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t extra() const { return word & 0xFFU; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t bits() const { return word >> 8U & 0xFFU; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t symbol() const { return word >> 16U & 0x7FU; }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t next() const { return word >> 23U; }
};

inline constexpr std::uint32_t max_fse_log = 9;

/// Working memory for building a table, shared by a warp.
struct fse_scratch {
  static constexpr std::uint32_t max_symbols = 256;

  std::int16_t
      count[max_symbols];  ///< states of each symbol; -1: one state, from which all bits are read
  std::uint16_t next[max_symbols];
  std::uint8_t ordered[1U << max_fse_log];
  std::uint8_t symbol[1U << max_fse_log];  ///< symbol of each state
};

/// The counts of a table.
struct fse_counts {
  std::uint32_t bytes = 0;  ///< bytes that store them; 0: they are invalid
  std::uint32_t log = 0;    ///< binary logarithm of the number of states
  std::uint32_t symbols = 0;
};

/// Reads the counts of a table (RFC 8878, section 4.1.1).
/// @param max_symbol 255 at most. @param max_log `max_fse_log` at most.
template <class Warp>
FEEDLINE_HOST_DEVICE fse_counts read_fse_counts(Warp& warp, fse_scratch& scratch,
                                                const std::byte* from, std::uint32_t bytes,
                                                std::uint32_t max_symbol, std::uint32_t max_log) {
  const auto peek = [&](std::uint32_t at, std::uint32_t bits) {
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < 4; ++i)
      if (at / 8 + i < bytes) found |= static_cast<std::uint32_t>(from[at / 8 + i]) << (8 * i);
    return low_bits(found >> at % 8, bits);
  };
  const std::uint32_t log = peek(0, 4) + 5;
  if (log > max_log) return {};
  std::uint32_t at = 4;
  std::uint32_t left = (1U << log) + 1;
  std::uint32_t bits = log + 1;  // bits of `left`
  std::uint32_t symbol = 0;
  while (left > 1) {
    if (symbol > max_symbol) return {};
    // A number is 0 to `left`. The `spare` smallest numbers, which is as many as the bits could
    // count beyond `left`, take a bit less.
    const std::uint32_t spare = (1U << bits) - 1 - left;
    const std::uint32_t said = peek(at, bits);
    std::uint32_t number = low_bits(said, bits - 1);
    if (number < spare) {
      at += bits - 1;
    } else {
      number = said >> (bits - 1) == 0 ? said : said - spare;
      at += bits;
    }
    const std::int32_t count = static_cast<std::int32_t>(number) - 1;
    warp.one([&] { scratch.count[symbol] = static_cast<std::int16_t>(count); });
    ++symbol;
    left -= count < 0 ? 1U : static_cast<std::uint32_t>(count);
    bits = highest_bit(left) + 1;
    for (bool more = count == 0; more;) {
      const std::uint32_t zeros = peek(at, 2);
      at += 2;
      more = zeros == 3;
      if (symbol + zeros > max_symbol) return {};
      warp.one([&] {
        for (std::uint32_t i = 0; i < zeros; ++i) scratch.count[symbol + i] = 0;
      });
      symbol += zeros;
    }
  }
  warp.sync();
  const std::uint32_t taken = (at + 7) / 8;
  if (taken > bytes) return {};
  return {taken, log, symbol};
}

/// Assigns a symbol to each state (RFC 8878, section 4.1.1).
template <class Warp>
FEEDLINE_HOST_DEVICE void spread_symbols(Warp& warp, fse_scratch& scratch,
                                         const fse_counts& counts) {
  using std::uint32_t;
  const uint32_t size = 1U << counts.log;
  uint32_t end = size;  // end of the states whose symbol's count is not -1
  for (uint32_t first = 0; first < counts.symbols; first += Warp::lanes) {
    const auto is_rare = warp.map([&](uint32_t lane) -> uint32_t {
      return first + lane < counts.symbols && scratch.count[first + lane] < 0 ? 1 : 0;
    });
    const auto before = warp.sum_before(is_rare);
    warp.each([&](uint32_t lane) {
      if (is_rare[lane] != 0)
        scratch.symbol[end - 1 - before[lane]] = static_cast<std::uint8_t>(first + lane);
    });
    end -= warp.sum(is_rare);
  }
  uint32_t begin = 0;
  for (uint32_t symbol = 0; symbol < counts.symbols; ++symbol) {
    const std::int32_t count = scratch.count[symbol];
    warp.each([&](uint32_t lane) {
      for (std::int32_t i = static_cast<std::int32_t>(lane); i < count;
           i += static_cast<std::int32_t>(Warp::lanes))
        scratch.ordered[begin + static_cast<uint32_t>(i)] = static_cast<std::uint8_t>(symbol);
    });
    begin += count > 0 ? static_cast<uint32_t>(count) : 0;
  }
  const uint32_t step = size / 2 + size / 8 + 3;
  uint32_t done = 0;
  for (uint32_t first = 0; first < size; first += Warp::lanes) {
    const auto is_taken = warp.map([&](uint32_t lane) -> uint32_t {
      return first + lane < size && (first + lane) * step % size < end ? 1 : 0;
    });
    const auto before = warp.sum_before(is_taken);
    warp.each([&](uint32_t lane) {
      if (is_taken[lane] != 0)
        scratch.symbol[(first + lane) * step % size] = scratch.ordered[done + before[lane]];
    });
    done += warp.sum(is_taken);
  }
}

/// Makes a table from counts. @param entry_of Makes an entry from bits, symbol and next state.
template <class Warp, class EntryOf>
FEEDLINE_HOST_DEVICE void build_fse_table(Warp& warp, fse_scratch& scratch,
                                          const fse_counts& counts, fse_entry* table,
                                          EntryOf entry_of) {
  using std::uint32_t;
  spread_symbols(warp, scratch, counts);
  warp.each([&](uint32_t lane) {
    for (uint32_t i = lane; i < counts.symbols; i += Warp::lanes)
      scratch.next[i] = static_cast<std::uint16_t>(scratch.count[i] < 0 ? 1 : scratch.count[i]);
  });
  const uint32_t size = 1U << counts.log;
  for (uint32_t first = 0; first < size; first += Warp::lanes) {
    const auto symbol = warp.map([&](uint32_t lane) -> uint32_t {
      return first + lane < size ? scratch.symbol[first + lane] : fse_scratch::max_symbols;
    });
    const auto same = warp.peers(symbol);
    const auto number = warp.map([&](uint32_t lane) -> uint32_t {
      return first + lane < size ? scratch.next[symbol[lane]] + same[lane].rank : 1;
    });
    warp.sync();
    warp.each([&](uint32_t lane) {
      if (first + lane >= size) return;
      if (same[lane].rank == 0)
        scratch.next[symbol[lane]] = static_cast<std::uint16_t>(number[lane] + same[lane].size);
      const uint32_t bits = counts.log - highest_bit(number[lane]);
      table[first + lane] = entry_of(bits, symbol[lane], (number[lane] << bits) - size);
    });
  }
}

}  // namespace feedline::detail
