#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/zstd/huffman_weights.hpp"
#include "codecs/zstd/reverse_stream.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// Huffman codes of literals (RFC 8878, section 4.2). A symbol is decoded by one lookup of the next
// bits in a table; if codes have 12 bits, an entry holds two of them.

inline constexpr std::uint32_t huffman_table_bits = 11;

/// A code's table: bits above, symbol below. An entry for codes of 12 bits has both symbols.
using huffman_table = std::uint16_t[1U << huffman_table_bits];

/// Makes the table of a code.
template <class Warp>
FEEDLINE_HOST_DEVICE void build_huffman_table(Warp& warp, huffman_weights& weights,
                                              huffman_table& table) {
  using std::uint32_t;
  const uint32_t log = weights.log;
  warp.one([&] {
    uint32_t begin = 0;
    for (uint32_t weight = 1; weight <= max_huffman_bits; ++weight) {
      weights.begin[weight] = static_cast<std::uint16_t>(begin);
      begin += uint32_t{weights.counted[weight]} << (weight - 1);
    }
  });
  warp.sync();
  for (uint32_t first = 0; first < 256; first += Warp::lanes) {
    const auto weight =
        warp.map([&](uint32_t lane) -> uint32_t { return weights.of[first + lane]; });
    const auto same = warp.peers(weight);
    const auto begin = warp.map([&](uint32_t lane) -> uint32_t {
      const uint32_t is = weight[lane];
      return is == 0 ? 0 : weights.begin[is] + (same[lane].rank << (is - 1));
    });
    warp.sync();
    warp.each([&](uint32_t lane) {
      const uint32_t is = weight[lane];
      if (is != 0 && same[lane].rank == 0)
        weights.begin[is] += static_cast<std::uint16_t>(same[lane].size << (is - 1));
    });
    for (uint32_t i = 0; i < Warp::lanes; ++i) {
      const uint32_t is = warp.from(weight, i);
      if (is == 0) continue;
      const uint32_t at = warp.from(begin, i);
      const uint32_t symbol = first + i;
      const uint32_t entry = (log + 1 - is) << 8U | symbol;
      if (log <= huffman_table_bits) {
        warp.each([&](uint32_t lane) {
          for (uint32_t k = lane; k < 1U << (is - 1); k += Warp::lanes)
            table[at + k] = static_cast<std::uint16_t>(entry);
        });
      } else if (is > 1) {
        warp.each([&](uint32_t lane) {
          for (uint32_t k = lane; k < 1U << (is - 2); k += Warp::lanes)
            table[at / 2 + k] = static_cast<std::uint16_t>(entry);
        });
      } else {
        warp.one([&] {
          const uint32_t other = at % 2 == 0 ? 0 : table[at / 2];
          table[at / 2] = static_cast<std::uint16_t>(other | symbol << (at % 2 * 8));
        });
        warp.sync();
      }
    }
  }
}

/// Decodes a stream by one lane.
template <bool TwelveBits>
class huffman_stream {
 public:
  /// @param pairs Number of entries that hold two codes, if there are codes of 12 bits.
  FEEDLINE_HOST_DEVICE huffman_stream(const huffman_table& table, std::uint32_t log,
                                      std::uint32_t pairs, const reverse_stream& stream)
      : table_{table},
        shift_{32 - (TwelveBits ? huffman_table_bits : log)},
        pairs_{pairs},
        stream_{stream},
        next_{reverse_stream::word_below(stream.end()) - 2},
        ahead_{stream.word(next_)},
        ready_{64 - reverse_stream::bits_above(stream.end())},
        buffer_{(std::uint64_t{stream.word(next_ + 2)} << 32U | stream.word(next_ + 1))
                << (64 - ready_)} {}

  /// @return Whether the stream has exactly `count` symbols.
  FEEDLINE_HOST_DEVICE bool decode(std::byte* to, std::uint32_t count) {
    std::uint32_t done = 0;
    for (; done < count && reinterpret_cast<std::uintptr_t>(to + done) % 4 != 0; ++done)
      to[done] = static_cast<std::byte>(next());
    for (; done + 4 <= count; done += 4) {
      std::uint32_t four = symbol();
      four |= next() << 8U;
      four |= symbol() << 16U;
      four |= next() << 24U;
      *reinterpret_cast<std::uint32_t*>(to + done) = four;
    }
    for (; done < count; ++done) to[done] = static_cast<std::byte>(next());
    return 32 * (next_ + 1) + static_cast<std::int32_t>(ready_) == stream_.begin();
  }

 private:
  /// More than 32 bits are ready before `symbol`, and after `next`.
  FEEDLINE_HOST_DEVICE std::uint32_t symbol() {
    const std::uint32_t at = static_cast<std::uint32_t>(buffer_ >> 32U) >> shift_;
    const std::uint32_t entry = table_[at];
    if (TwelveBits && at < pairs_) {
      const std::uint32_t second = static_cast<std::uint32_t>(buffer_ >> 52U) & 1U;
      drop(max_huffman_bits);
      return entry >> (second * 8) & 0xFFU;
    }
    drop(entry >> 8U);
    return entry & 0xFFU;
  }
  FEEDLINE_HOST_DEVICE std::uint32_t next() {
    const std::uint32_t found = symbol();
    fill();
    return found;
  }
  FEEDLINE_HOST_DEVICE void drop(std::uint32_t bits) {
    buffer_ <<= bits;
    ready_ -= bits;
  }
  FEEDLINE_HOST_DEVICE void fill() {
    if (ready_ > 32) return;
    buffer_ |= std::uint64_t{ahead_} << (32U - ready_);
    ready_ += 32;
    ahead_ = stream_.word(--next_);
  }

  const huffman_table& table_;
  const std::uint32_t shift_;
  const std::uint32_t pairs_;
  const reverse_stream stream_;
  std::int32_t next_;  ///< index of the word that enters the buffer next
  std::uint32_t ahead_;
  std::uint32_t ready_;
  std::uint64_t buffer_;
};

/// Streams of literals, and their destination.
struct huffman_streams {
  std::uint32_t count;  ///< 1 or 4
  const std::byte* from;
  std::uint32_t bytes;
  std::byte* to;
  std::uint32_t literals;
};

/// Decodes literals, one stream a lane. @return Whether each stream has the right number of
/// symbols.
template <bool TwelveBits, class Warp>
FEEDLINE_HOST_DEVICE bool decode_huffman_streams(Warp& warp, const huffman_weights& weights,
                                                 const huffman_table& table,
                                                 const huffman_streams& what) {
  using std::uint32_t;
  constexpr uint32_t jumps = 6;  // bytes that store the sizes of the first three streams
  uint32_t begin[5] = {0, what.bytes, 0, 0, 0};
  uint32_t each = what.literals;
  if (what.count == 4) {
    if (what.bytes < jumps) return false;
    begin[0] = jumps;
    for (uint32_t i = 0; i < 3; ++i)
      begin[i + 1] = begin[i] + static_cast<uint32_t>(little_endian(what.from + 2 * i, 2));
    begin[4] = what.bytes;
    if (begin[3] > what.bytes) return false;
    each = (what.literals + 3) / 4;
  }
  const auto failed = warp.map([&](uint32_t lane) {
    for (uint32_t i = lane; i < what.count; i += Warp::lanes) {
      const reverse_stream stream{what.from + begin[i], begin[i + 1] - begin[i]};
      if (!stream.is_marked()) return true;
      const uint32_t own = i + 1 < what.count ? each : what.literals - each * (what.count - 1);
      huffman_stream<TwelveBits> decoder{table, weights.log, weights.counted[1] / 2U, stream};
      if (!decoder.decode(what.to + i * each, own)) return true;
    }
    return false;
  });
  warp.sync();
  return !warp.any(failed);
}

template <class Warp>
FEEDLINE_HOST_DEVICE bool decode_huffman(Warp& warp, const huffman_weights& weights,
                                         const huffman_table& table, const huffman_streams& what) {
  return weights.log <= huffman_table_bits
             ? decode_huffman_streams<false>(warp, weights, table, what)
             : decode_huffman_streams<true>(warp, weights, table, what);
}

}  // namespace feedline::detail
