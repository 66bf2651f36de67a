#include "detail/byte_order.hpp"
#include "hdf5/filter/undo.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace feedline::detail {

namespace {

/// Folds to 16 bits, as in one's complement sums: a sum other than 0 does not become 0.
constexpr std::uint64_t fold(std::uint64_t sum) noexcept {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

/// Sums eight words at a time, each in a lane of its own.
using word_sums __attribute__((vector_size(16))) = std::uint32_t;

/// Swaps the two bytes of the upper and of the lower half: multiplies each by 256, modulo 65535.
constexpr std::uint32_t swap_in_halves(std::uint32_t sums) noexcept {
  return ((sums & 0x00ff00ffU) << 8) | ((sums & 0xff00ff00U) >> 8);
}

/// Fletcher's checksum over 16-bit words, where an odd last byte is the first byte of a word: the
/// sum of the words below, the sum of those sums above, both modulo 65535, with 65535 for
/// multiples of it other than 0. Words are read in memory order, least significant byte first. HDF5
/// reads them in the opposite order; its sums are those computed here with their bytes swapped.
std::uint32_t fletcher32(std::span<const std::byte> bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t lanes = 8;
  constexpr std::size_t max_steps = 256;  // so that a lane's second sum fits in 32 bits
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  while (static_cast<std::size_t>(end - at) >= 2 * lanes) {
    const std::size_t steps = std::min(static_cast<std::size_t>(end - at) / (2 * lanes), max_steps);
    word_sums sums[2] = {};  // words 0, 2, 4, 6 of each step, and words 1, 3, 5, 7
    word_sums second_sums[2] = {};
    for (std::size_t step = 0; step < steps; ++step, at += 2 * lanes) {
      word_sums words;
      std::memcpy(&words, at, sizeof words);
      sums[0] += words & 0xffffU;
      sums[1] += words >> 16U;
      second_sums[0] += sums[0];
      second_sums[1] += sums[1];
    }
    // In the sum of sums, a word counts as often as there are words from it on.
    second += first * (steps * lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t sum = sums[lane % 2][lane / 2];
      first += sum;
      second += lanes * std::uint64_t{second_sums[lane % 2][lane / 2]} - lane * sum;
    }
    first = fold(first);
    second = fold(second);
  }
  while (at != end) {
    std::uint16_t word = 0;
    const std::size_t size = end - at == 1 ? 1 : 2;
    std::memcpy(&word, at, size);
    at += size;
    first += word;
    second += first;
  }
  return static_cast<std::uint32_t>((fold(second) << 16) | fold(first));
}

std::string hexadecimal(std::uint32_t value) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

}  // namespace

void check_fletcher32(std::span<const std::byte> stored) {
  const auto bytes = stored.first(stored.size() - 4);
  const auto said = static_cast<std::uint32_t>(little_endian(stored.last(4)));
  const std::uint32_t as_read = fletcher32(bytes);
  const std::uint32_t is = swap_in_halves(as_read);
  // HDF5 1.6.2 and older read words in our order.
  if (said != is && said != as_read)
    throw hdf5_filter_error{"the checksum stored is " + hexadecimal(said) +
                            ", but that of the bytes is " + hexadecimal(is)};
}

hdf5_undo undo_of_fletcher32(std::span<const unsigned>) {
  return {.effect = hdf5_size_effect::checksum};
}

}  // namespace feedline::detail
