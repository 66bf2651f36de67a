#include "detail/checksums/highway_hash.hpp"

#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace feedline::detail {
namespace {

using hash_word = std::uint64_t;
using lanes = std::array<hash_word, 4>;

constexpr std::size_t packet_bytes = 32;

/// A byte of a word, moved to another position.
constexpr hash_word moved(hash_word of, unsigned from, unsigned to) noexcept {
  return (of >> 8 * from & 0xff) << 8 * to;
}

/// The number that 8 bytes are, the least one first.
hash_word little_endian_word(const std::byte* at) noexcept {
  hash_word value = 0;
  std::memcpy(&value, at, sizeof value);
  return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
}

constexpr hash_word low(hash_word of) noexcept {
  return of & 0xffff'ffff;
}

#if defined(__x86_64__)
#define FEEDLINE_AVX2 [[gnu::target("avx2")]]

FEEDLINE_AVX2 __m256i load(const void* from) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

FEEDLINE_AVX2 void store(lanes& to, __m256i from) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to.data()), from);
}

/// Same as `highway_state::add` for each packet, four words at once.
FEEDLINE_AVX2 void add_by_avx2(const std::byte* at, const std::byte* end, lanes& a_words,
                               lanes& b_words, lanes& mul_a_words, lanes& mul_b_words) noexcept {
  __m256i a = load(a_words.data());
  __m256i b = load(b_words.data());
  __m256i mul_a = load(mul_a_words.data());
  __m256i mul_b = load(mul_b_words.data());
  const __m256i order = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7));
  for (; at != end; at += packet_bytes) {
    b = _mm256_add_epi64(b, _mm256_add_epi64(mul_a, load(at)));
    mul_a = _mm256_xor_si256(mul_a, _mm256_mul_epu32(b, _mm256_srli_epi64(a, 32)));
    a = _mm256_add_epi64(a, mul_b);
    mul_b = _mm256_xor_si256(mul_b, _mm256_mul_epu32(a, _mm256_srli_epi64(b, 32)));
    a = _mm256_add_epi64(a, _mm256_shuffle_epi8(b, order));
    b = _mm256_add_epi64(b, _mm256_shuffle_epi8(a, order));
  }
  store(a_words, a);
  store(b_words, b);
  store(mul_a_words, mul_a);
  store(mul_b_words, mul_b);
}

bool has_avx2() noexcept {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

class highway_state {
 public:
  explicit highway_state(const highway_key& key) noexcept {
    for (std::size_t i = 0; i < 4; ++i) {
      a_[i] = mul_a_[i] ^ key[i];
      b_[i] = mul_b_[i] ^ std::rotl(key[i], 32);
    }
  }

  void add(const lanes& packet) noexcept {
    for (std::size_t i = 0; i < 4; ++i) {
      b_[i] += mul_a_[i] + packet[i];
      mul_a_[i] ^= low(b_[i]) * (a_[i] >> 32);
      a_[i] += mul_b_[i];
      mul_b_[i] ^= low(a_[i]) * (b_[i] >> 32);
    }
    add_mixed(b_, a_);
    add_mixed(a_, b_);
  }

  /// @param packets A multiple of 32 bytes.
  void add(std::span<const std::byte> packets) noexcept {
#if defined(__x86_64__)
    if (has_avx2())
      return add_by_avx2(packets.data(), packets.data() + packets.size(), a_, b_, mul_a_, mul_b_);
#endif
    add_by_words(packets);
  }

  void add_by_words(std::span<const std::byte> packets) noexcept {
    for (; !packets.empty(); packets = packets.subspan(packet_bytes)) {
      lanes words;
      for (std::size_t i = 0; i < 4; ++i) words[i] = little_endian_word(packets.data() + 8 * i);
      add(words);
    }
  }

  /// @param rest 1 to 31 bytes
  void add_rest(std::span<const std::byte> rest) noexcept {
    const std::size_t size = rest.size();
    const std::size_t whole = size & ~std::size_t{3};
    const std::size_t left = size & 3;
    for (std::size_t i = 0; i < 4; ++i) {
      a_[i] += (hash_word{size} << 32) + size;
      b_[i] = hash_word{std::rotl(static_cast<std::uint32_t>(b_[i] >> 32), static_cast<int>(size))}
                  << 32 |
              std::rotl(static_cast<std::uint32_t>(b_[i]), static_cast<int>(size));
    }
    std::array<std::byte, packet_bytes> packet{};
    std::memcpy(packet.data(), rest.data(), whole);
    if ((size & 16) != 0) {
      std::memcpy(packet.data() + packet_bytes - 4, rest.data() + size - 4, 4);
    } else if (left != 0) {
      packet[16] = rest[whole];
      packet[17] = rest[whole + left / 2];
      packet[18] = rest[whole + left - 1];
    }
    add_by_words(packet);
  }

  [[nodiscard]] hash_word finish() noexcept {
    for (int turn = 0; turn < 4; ++turn)
      add({std::rotl(a_[2], 32), std::rotl(a_[3], 32), std::rotl(a_[0], 32), std::rotl(a_[1], 32)});
    return a_[0] + b_[0] + mul_a_[0] + mul_b_[0];
  }

 private:
  /// Adds each pair of words with its 16 bytes in another order, which mixes what multiplication
  /// leaves in the middle of words.
  static void add_mixed(const lanes& of, lanes& to) noexcept {
    for (std::size_t i = 0; i < 4; i += 2) {
      const hash_word x = of[i];
      const hash_word y = of[i + 1];
      to[i] += moved(x, 3, 0) | moved(y, 4, 1) | moved(x, 2, 2) | moved(x, 5, 3) | moved(y, 6, 4) |
               moved(x, 1, 5) | moved(y, 7, 6) | moved(x, 0, 7);
      to[i + 1] += moved(y, 3, 0) | moved(x, 4, 1) | moved(y, 2, 2) | moved(y, 5, 3) |
                   moved(y, 1, 4) | moved(x, 6, 5) | moved(y, 0, 6) | moved(x, 7, 7);
    }
  }

  // Digits of pi and others, as the paper has them.
  lanes mul_a_{0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344, 0x243f6a8885a308d3};
  lanes mul_b_{0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c, 0x452821e638d01377};
  lanes a_{};
  lanes b_{};
};

}  // namespace

std::uint64_t highway_hash(const highway_key& key, std::span<const std::byte> bytes) noexcept {
  highway_state state{key};
  const std::size_t whole = bytes.size() / packet_bytes * packet_bytes;
  state.add(bytes.first(whole));
  if (whole != bytes.size()) state.add_rest(bytes.subspan(whole));
  return state.finish();
}

std::uint64_t highway_hash_by_words(const highway_key& key,
                                    std::span<const std::byte> bytes) noexcept {
  highway_state state{key};
  const std::size_t whole = bytes.size() / packet_bytes * packet_bytes;
  state.add_by_words(bytes.first(whole));
  if (whole != bytes.size()) state.add_rest(bytes.subspan(whole));
  return state.finish();
}

}  // namespace feedline::detail
