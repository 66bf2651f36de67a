#pragma once

#include "codecs/lz/bits.hpp"
#include "codecs/zstd/fse.hpp"
#include "codecs/zstd/reverse_stream.hpp"
#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

// The description of a Huffman code of literals (RFC 8878, section 4.2.1).

/// Bits of the longest code. The RFC allows 11, libzstd accepts 12.
inline constexpr std::uint32_t max_huffman_bits = 12;

/// Weights from which a code is made. A symbol of weight w > 0 has 2^(w - 1) of the 2^log
/// sequences of bits.
struct huffman_weights {
  std::uint32_t log;
  std::uint16_t counted[max_huffman_bits + 1];  ///< symbols of each weight
  std::uint16_t begin[max_huffman_bits + 1];    ///< their first sequence, while a table is made
  std::uint8_t of[256];
};

/// Working memory for the code of the weights.
struct huffman_scratch {
  fse_scratch counts;
  fse_entry table[1U << 6U];
};

/// Reads weights that a code of finite state entropy packs. @return Number of weights; 0: they are
/// damaged.
template <class Warp>
FEEDLINE_HOST_DEVICE std::uint32_t read_packed_weights(Warp& warp, huffman_scratch& scratch,
                                                       huffman_weights& weights,
                                                       const std::byte* from, std::uint32_t bytes) {
  constexpr std::uint32_t max_log = 6;
  constexpr std::uint32_t most = 255;  // the last weight is not stored
  const fse_counts counts = read_fse_counts(warp, scratch.counts, from, bytes, 255, max_log);
  if (counts.bytes == 0) return 0;
  build_fse_table(warp, scratch.counts, counts, scratch.table,
                  [](std::uint32_t bits, std::uint32_t symbol, std::uint32_t next) {
                    constexpr std::uint32_t none = max_huffman_bits + 1;
                    return fse_entry::make(0, bits, symbol < none ? symbol : none, next);
                  });
  const reverse_stream stream{from + counts.bytes, bytes - counts.bytes};
  if (!stream.is_marked()) return 0;
  std::int32_t position = stream.end();
  const auto take = [&](std::uint32_t bits) {
    const std::uint32_t taken = top_bits(stream.bits_below(position), bits);
    position -= static_cast<std::int32_t>(bits);
    return taken;
  };
  std::uint32_t state = take(counts.log);
  std::uint32_t other = take(counts.log);
  if (position < stream.begin()) return 0;
  std::uint32_t count = 0;
  const auto put = [&](std::uint32_t of_state) {
    warp.one(
        [&] { weights.of[count] = static_cast<std::uint8_t>(scratch.table[of_state].symbol()); });
    ++count;
  };
  while (count + 2 <= most) {
    put(state);
    const fse_entry entry = scratch.table[state];
    const std::uint32_t next = entry.next() + take(entry.bits());
    state = other;
    other = next;
    if (position < stream.begin()) {  // the stored weights end here
      put(state);
      warp.sync();
      return count;
    }
  }
  return 0;
}

/// Reads the weights of a code. @return Number of bytes that store them; 0: they are invalid.
template <class Warp>
FEEDLINE_HOST_DEVICE std::uint32_t read_huffman_weights(Warp& warp, huffman_scratch& scratch,
                                                        huffman_weights& weights,
                                                        const std::byte* from,
                                                        std::uint32_t bytes) {
  using std::uint32_t;
  if (bytes == 0) return 0;
  const auto header = static_cast<uint32_t>(from[0]);
  const bool is_packed = header < 128;
  uint32_t count = is_packed ? 0 : header - 127;
  const uint32_t taken = 1 + (is_packed ? header : (count + 1) / 2);
  if (taken > bytes) return 0;
  if (is_packed) {
    count = read_packed_weights(warp, scratch, weights, from + 1, header);
    if (count == 0) return 0;
  } else {
    warp.each([&](uint32_t lane) {
      for (uint32_t i = lane; i < count; i += Warp::lanes)
        weights.of[i] = static_cast<std::uint8_t>(
            static_cast<uint32_t>(from[1 + i / 2]) >> (i % 2 == 0 ? 4U : 0U) & 15U);
    });
  }
  const auto share = warp.map([&](uint32_t lane) {
    uint32_t sum = 0;
    for (uint32_t i = lane; i < count; i += Warp::lanes) {
      const uint32_t weight = weights.of[i];
      if (weight > max_huffman_bits) return 1U << 24U;
      sum += (1U << weight) / 2;
    }
    return sum;
  });
  const uint32_t sum = warp.sum(share);
  if (sum == 0 || sum >= 1U << max_huffman_bits) return 0;
  const uint32_t log = highest_bit(sum) + 1;
  const uint32_t rest = (1U << log) - sum;  // share of the last symbol
  if ((rest & (rest - 1)) != 0) return 0;
  warp.each([&](uint32_t lane) {
    for (uint32_t i = lane; i <= max_huffman_bits; i += Warp::lanes) weights.counted[i] = 0;
    for (uint32_t i = count + lane; i < 256; i += Warp::lanes)
      weights.of[i] = static_cast<std::uint8_t>(i == count ? highest_bit(rest) + 1 : 0);
    if (lane == 0) weights.log = log;
  });
  for (uint32_t first = 0; first < 256; first += Warp::lanes) {
    const auto weight =
        warp.map([&](uint32_t lane) -> uint32_t { return weights.of[first + lane]; });
    const auto same = warp.peers(weight);
    warp.each([&](uint32_t lane) {
      if (same[lane].rank == 0)
        weights.counted[weight[lane]] += static_cast<std::uint16_t>(same[lane].size);
    });
  }
  const uint32_t longest = weights.counted[1];
  return longest >= 2 && longest % 2 == 0 ? taken : 0;
}

}  // namespace feedline::detail
