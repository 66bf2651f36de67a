#include "hdf5/format/checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace feedline::detail {
namespace {

constexpr std::size_t block_bytes = 12;

struct state {
  std::uint32_t a, b, c;

  void add(const std::byte* bytes) noexcept {
    a += word(bytes);
    b += word(bytes + 4);
    c += word(bytes + 8);
  }

  void mix() noexcept {
    a = (a - c) ^ std::rotl(c, 4), c += b;
    b = (b - a) ^ std::rotl(a, 6), a += c;
    c = (c - b) ^ std::rotl(b, 8), b += a;
    a = (a - c) ^ std::rotl(c, 16), c += b;
    b = (b - a) ^ std::rotl(a, 19), a += c;
    c = (c - b) ^ std::rotl(b, 4), b += a;
  }

  void finish() noexcept {
    c = (c ^ b) - std::rotl(b, 14);
    a = (a ^ c) - std::rotl(c, 11);
    b = (b ^ a) - std::rotl(a, 25);
    c = (c ^ b) - std::rotl(b, 16);
    a = (a ^ c) - std::rotl(c, 4);
    b = (b ^ a) - std::rotl(a, 14);
    c = (c ^ b) - std::rotl(b, 24);
  }

  static std::uint32_t word(const std::byte* bytes) noexcept {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(bytes[i]) << 8 * i;
    return value;
  }
};

}  // namespace

std::uint32_t hdf5_checksum(std::span<const std::byte> bytes) noexcept {
  const auto seed = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  state hash{seed, seed, seed};
  if (bytes.empty()) return hash.c;
  for (; bytes.size() > block_bytes; bytes = bytes.subspan(block_bytes)) {
    hash.add(bytes.data());
    hash.mix();
  }
  std::array<std::byte, block_bytes> last{};  // what is missing counts as zeros
  std::copy(bytes.begin(), bytes.end(), last.begin());
  hash.add(last.data());
  hash.finish();
  return hash.c;
}

}  // namespace feedline::detail
