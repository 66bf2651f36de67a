#pragma once

#include "codecs/inflate/bit_reader.hpp"
#include "codecs/inflate/decoded_bytes.hpp"
#include "codecs/inflate/huffman.hpp"
#include "codecs/inflate/literal_run.hpp"
#include "codecs/team.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace feedline::detail {

// Decodes deflate (RFC 1951). For any stream, nothing is written outside the given room, nothing is
// read but the words that contain the stream, and decoding ends: so damaged files do no harm. That
// is why this decoder exists: nvCOMP is fast too, but expects undamaged data (docs/decisions/0074).

/// Memory that a team shares while it decodes.
struct inflate_tables {
  static constexpr std::uint32_t max_symbols = 288 + 32;

  huffman_code<10, 288> literals;
  huffman_code<8, 32> distances;  ///< before that, it holds the code of the codes' lengths
  std::uint8_t bits[max_symbols];
  decoded_window window;
};

/// Result of decoding a stream.
struct inflated {
  bool good;            ///< it is complete, and fills its room exactly, or with surplus if taken
  std::uint32_t bytes;  ///< size of the stream: other bytes may follow it
  bool has_surplus = false;  ///< whether bytes were dropped for which there was no room
};

/// @tparam Warp The team as a warp, if the stream is an image's: most symbols are literals, so the
///              lanes find many of them at once; and bytes for which there is no room are dropped,
///              where else they are an error. void: it is not an image's.
template <class Team, class Warp = void>
class inflater {
  static constexpr bool of_image = !std::is_void_v<Warp>;

 public:
  FEEDLINE_HOST_DEVICE inflater(const std::byte* from, std::uint32_t bytes, std::byte* to,
                                std::uint32_t room, inflate_tables& tables)
      : from_{from},
        bytes_{bytes},
        in_{from, bytes},
        out_{to, room, tables.window},
        tables_{tables} {}

  FEEDLINE_HOST_DEVICE inflated run() {
    bool is_last = false;
    while (!is_last) {
      in_.need(3);
      is_last = in_.take(1) != 0;
      if (!block(in_.take(2)) || in_.ended_early() || is_endless()) return {false, 0};
    }
    return {out_.finish(), in_.taken_bytes(), out_.surplus() != 0};
  }

 private:
  /// Whether surplus is not worth decoding: zeros after the end of the stream could be symbols
  /// without end, and few bytes of a stream are up to a thousand times as many.
  [[nodiscard]] FEEDLINE_HOST_DEVICE bool is_endless() const {
    constexpr std::uint32_t most = 1U << 20U;
    return of_image && out_.surplus() != 0 && (out_.surplus() > most || in_.ended_early());
  }

  FEEDLINE_HOST_DEVICE bool block(std::uint32_t kind) {
    switch (kind) {
      case 0:
        return stored_block();
      case 1:
        return fixed_codes() && coded_block();
      case 2:
        return own_codes() && coded_block();
      default:
        return false;
    }
  }

  FEEDLINE_HOST_DEVICE bool stored_block() {
    in_.drop_to_byte();
    in_.need(16);
    const std::uint32_t length = in_.take(16);
    in_.need(16);
    if (in_.take(16) != (length ^ 0xFFFFU)) return false;
    const std::uint32_t at = in_.taken_bytes();
    if (at > bytes_ || length > bytes_ - at || !out_.put(from_ + at, length)) return false;
    in_.seek(at + length);
    return true;
  }

  FEEDLINE_HOST_DEVICE bool fixed_codes() {
    for (std::uint32_t i = Team::lane(); i < inflate_tables::max_symbols; i += Team::width)
      tables_.bits[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
    Team::sync();
    return build<Team>(tables_.literals, tables_.bits, 288, huffman_alphabet::literals) &&
           build<Team>(tables_.distances, tables_.bits + 288, 32, huffman_alphabet::distances);
  }

  FEEDLINE_HOST_DEVICE bool own_codes() {
    in_.need(14);
    const std::uint32_t literals = in_.take(5) + 257;
    const std::uint32_t distances = in_.take(5) + 1;
    const std::uint32_t lengths = in_.take(4) + 4;
    if (literals > 286 || distances > 30) return false;
    if (!code_of_lengths(lengths) || !lengths_of_codes(literals + distances)) return false;
    // The code of distances overwrites the code of lengths.
    return build<Team>(tables_.literals, tables_.bits, literals, huffman_alphabet::literals) &&
           build<Team>(tables_.distances, tables_.bits + literals, distances,
                       huffman_alphabet::distances);
  }

  FEEDLINE_HOST_DEVICE bool code_of_lengths(std::uint32_t count) {
    constexpr std::uint32_t symbols = 19;
    // The order is 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15.
    for (std::uint32_t i = 0; i < symbols; ++i) {
      in_.need(3);
      const std::uint32_t bits = i < count ? in_.take(3) : 0;
      const std::uint32_t far = (i - 3) / 2;  // distance from 8, alternately below and above
      const std::uint32_t symbol = i < 3 ? 16 + i : i == 3 ? 0 : i % 2 == 0 ? 7 + far + 1 : 8 - far;
      if (Team::lane() == 0) tables_.bits[symbol] = static_cast<std::uint8_t>(bits);
    }
    Team::sync();
    return build<Team>(tables_.distances, tables_.bits, symbols, huffman_alphabet::lengths);
  }

  FEEDLINE_HOST_DEVICE bool lengths_of_codes(std::uint32_t count) {
    constexpr std::uint32_t end = 256;  // the end symbol
    bool can_end = false;
    std::uint32_t last = 0;
    for (std::uint32_t done = 0; done < count;) {
      in_.need(22);
      const symbol_entry symbol = decode<Team>(in_, tables_.distances, huffman_alphabet::lengths);
      if (!symbol.is_value()) return false;
      std::uint32_t times = 1;
      if (symbol.value() < 16) {
        last = symbol.value();
      } else if (symbol.value() == 16) {
        if (done == 0) return false;  // nothing to repeat
        times = 3 + in_.take(2);
      } else {
        times = symbol.value() == 17 ? 3 + in_.take(3) : 11 + in_.take(7);
        last = 0;
      }
      if (times > count - done) return false;
      if (last != 0 && done <= end && end - done < times) can_end = true;
      for (std::uint32_t i = Team::lane(); i < times; i += Team::width)
        tables_.bits[done + i] = static_cast<std::uint8_t>(last);
      done += times;
    }
    Team::sync();
    return can_end;
  }

  /// Decodes literals up to another symbol or a long code. @return Same as `coded_block`.
  FEEDLINE_HOST_DEVICE bool literals() {
    for (;;) {
      if (is_endless()) return false;
      in_.need(32);
      const auto run = find_literals(warp_, in_, tables_.literals);
      in_.drop(run.bits);
      if (run.lanes != 0 && !out_.put(warp_, run.values, run.lanes)) return false;
      if (run.ends) return true;
    }
  }

  FEEDLINE_HOST_DEVICE bool coded_block() {
    for (;;) {
      if (is_endless()) return false;
      in_.need(max_code_bits + 5);
      const symbol_entry symbol = decode<Team>(in_, tables_.literals, huffman_alphabet::literals);
      if (symbol.is_value()) {  // tested first, because most are values
        if (!out_.put(symbol.value())) return false;
        if constexpr (of_image) {
          if (!literals()) return false;
        }
        continue;
      }
      if (symbol.kind() != symbol_kind::copy) return symbol.kind() == symbol_kind::end;
      const std::uint32_t length = symbol.value() + in_.take(symbol.extra());
      in_.need(max_code_bits + 13);
      const symbol_entry far = decode<Team>(in_, tables_.distances, huffman_alphabet::distances);
      if (far.kind() != symbol_kind::copy) return false;
      if (!out_.repeat(far.value() + in_.take(far.extra()), length)) return false;
    }
  }

  const std::byte* from_;
  std::uint32_t bytes_;
  bit_reader<Team> in_;
  decoded_bytes<Team, of_image> out_;
  inflate_tables& tables_;
  std::conditional_t<of_image, Warp, char> warp_{};
};

}  // namespace feedline::detail
