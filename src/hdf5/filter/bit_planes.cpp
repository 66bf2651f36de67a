#include "hdf5/filter/bit_planes.hpp"

#include "hdf5/filter/byte_planes.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace feedline::detail {

namespace {

/// byte_vector for shifts, which x86-64 has for no single bytes; what crosses into a neighbour is
/// masked away.
using pair_vector __attribute__((vector_size(16))) = std::uint16_t;

/// Swaps the bits of `a` that stand `shift` above those of `mask` with the bits of `b` at `mask`.
inline void swap_bits(pair_vector& a, pair_vector& b, std::uint16_t mask, unsigned shift) noexcept {
  const pair_vector difference = ((a >> shift) ^ b) & mask;
  b ^= difference;
  a ^= difference << shift;
}

/// Bit i of a byte in row j becomes bit j of that byte in row i: in each of 16 columns an 8 × 8
/// matrix is transposed, by quarters, then by quarters of those, and so on (Hacker's Delight, 7-3).
inline void transpose_bits(pair_vector (&rows)[8]) noexcept {
  for (const std::size_t row : {0U, 1U, 2U, 3U}) swap_bits(rows[row], rows[row + 4], 0x0f0f, 4);
  for (const std::size_t row : {0U, 1U, 4U, 5U}) swap_bits(rows[row], rows[row + 2], 0x3333, 2);
  for (const std::size_t row : {0U, 2U, 4U, 6U}) swap_bits(rows[row], rows[row + 1], 0x5555, 1);
}

/// The same for a single column; row j is byte j from the lowest.
constexpr std::uint64_t transpose_bits(std::uint64_t rows) noexcept {
  std::uint64_t swapped = (rows ^ (rows >> 7U)) & 0x00aa00aa00aa00aaULL;
  rows ^= swapped ^ (swapped << 7U);
  swapped = (rows ^ (rows >> 14U)) & 0x0000cccc0000ccccULL;
  rows ^= swapped ^ (swapped << 14U);
  swapped = (rows ^ (rows >> 28U)) & 0x00000000f0f0f0f0ULL;
  return rows ^ swapped ^ (swapped << 28U);
}

/// Eight planes of bits, each of `width` bytes, to eight times as many bytes.
void join_eight(const std::byte* planes, std::size_t width, std::byte* out) noexcept {
  constexpr std::size_t lanes = sizeof(byte_vector);
  std::size_t column = 0;
  for (; column + lanes <= width; column += lanes) {
    pair_vector pairs[8];
    for (std::size_t row = 0; row < 8; ++row)
      pairs[row] = std::bit_cast<pair_vector>(load_bytes(planes + row * width + column));
    transpose_bits(pairs);
    byte_vector rows[8];
    for (std::size_t row = 0; row < 8; ++row) rows[row] = std::bit_cast<byte_vector>(pairs[row]);
    interleave(rows);
    for (std::size_t part = 0; part < 8; ++part)
      store_bytes(rows[part], out + 8 * column + part * lanes);
  }
  for (; column < width; ++column) {
    std::uint64_t rows = 0;
    for (std::size_t row = 0; row < 8; ++row)
      rows |= std::to_integer<std::uint64_t>(planes[row * width + column]) << (8 * row);
    rows = transpose_bits(rows);
    for (std::size_t i = 0; i < 8; ++i)
      out[8 * column + i] = static_cast<std::byte>((rows >> (8 * i)) & 0xffU);
  }
}

}  // namespace

void join_bit_planes(const std::byte* planes, std::size_t count, std::size_t size,
                     std::span<std::byte> between, std::byte* out) noexcept {
  std::byte* const bytes = size == 1 ? out : between.data();
  for (std::size_t byte = 0; byte < size; ++byte)
    join_eight(planes + byte * count, count / 8, bytes + byte * count);
  if (size != 1) join_byte_planes(bytes, count, size, out);
}

}  // namespace feedline::detail
