#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace feedline::detail {

/// SHA-256 (FIPS 180-4) of bytes that come one after the other. Compares objects with their stores'
/// checksums; keeps no secret.
class sha256 {
 public:
  using digest_type = std::array<unsigned char, 32>;

  void add(std::span<const std::byte> bytes) noexcept {
    all_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t some = std::min(bytes.size(), block_.size() - filled_);
      std::memcpy(block_.data() + filled_, bytes.data(), some);
      filled_ += some;
      bytes = bytes.subspan(some);
      if (filled_ != block_.size()) continue;
      take_block();
      filled_ = 0;
    }
  }

  [[nodiscard]] digest_type digest() const noexcept {
    sha256 last = *this;
    const std::uint64_t bits = all_ * 8;
    constexpr std::byte one{0x80};
    constexpr std::byte zero{};
    last.add({&one, 1});
    while (last.filled_ != block_.size() - sizeof bits) last.add({&zero, 1});
    std::array<std::byte, sizeof bits> length;
    for (std::size_t i = 0; i < length.size(); ++i)
      length[i] = static_cast<std::byte>(bits >> (56 - 8 * i) & 0xff);
    last.add(length);
    digest_type made;
    for (std::size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<unsigned char>(last.state_[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
    return made;
  }

 private:
  using word = std::uint32_t;

  void take_block() noexcept {
    std::array<word, 64> w;
    for (std::size_t i = 0; i < 16; ++i) {
      w[i] = 0;
      for (std::size_t k = 0; k < 4; ++k)
        w[i] = w[i] << 8 | std::to_integer<word>(block_[4 * i + k]);
    }
    for (std::size_t i = 16; i < w.size(); ++i) {
      const word a = w[i - 15];
      const word b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const word first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                         ((e & f) ^ (~e & g)) + constants[i] + w[i];
      const word second =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const std::array<word, 8> more{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += more[i];
  }

  // The first 32 bits of the fractional parts of cube and square roots of primes.
  static constexpr std::array<word, 64> constants{
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};

  std::array<word, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t all_ = 0;  ///< bytes so far
};

}  // namespace feedline::detail
