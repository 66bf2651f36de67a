#include "hdf5/filter/planes.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace feedline::detail {
namespace {

/// 16 bytes that are processed at once. This is the compilers' own vector type rather than
/// intrinsics: the same code is SSE2 on x86-64, NEON on ARM, and plain code elsewhere.
using byte_vector __attribute__((vector_size(16))) = std::uint8_t;

byte_vector load_bytes(const std::byte* from) noexcept {
  byte_vector bytes;
  std::memcpy(&bytes, from, sizeof bytes);
  return bytes;
}

void store_bytes(byte_vector bytes, std::byte* to) noexcept {
  std::memcpy(to, &bytes, sizeof bytes);
}

/// Turns N rows of 16 bytes into 16 columns of N: byte j of row i moves to index j * N + i.
/// @tparam N A power of two.
template <std::size_t N>
void interleave(byte_vector (&rows)[N]) noexcept {
  static_assert((N & (N - 1)) == 0);
  for (std::size_t stage = 1; stage < N; stage *= 2) {
    byte_vector next[N];
    for (std::size_t i = 0; i < N / 2; ++i) {
      const byte_vector a = rows[i];
      const byte_vector b = rows[i + N / 2];
      next[2 * i] =
          __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                                14, 30, 15, 31);
    }
    for (std::size_t i = 0; i < N; ++i) rows[i] = next[i];
  }
}

constexpr std::size_t lanes = sizeof(byte_vector);  ///< elements that are assembled at once

/// Joins elements whose size suits a vector instruction.
template <std::size_t Size>
void join_whole(const std::byte* planes, std::size_t count, std::size_t elements,
                std::byte* out) noexcept {
  for (std::size_t i = 0; i < elements; i += lanes) {
    byte_vector rows[Size];
    for (std::size_t plane = 0; plane < Size; ++plane)
      rows[plane] = load_bytes(planes + plane * count + i);
    interleave(rows);
    for (std::size_t part = 0; part < Size; ++part)
      store_bytes(rows[part], out + i * Size + part * lanes);
  }
}

/// Joins one vector's worth of elements: those of their bytes that are in `Piece` planes.
template <std::size_t Piece>
void join_piece(const std::byte* planes, std::size_t count, std::size_t size,
                std::byte* out) noexcept {
  byte_vector rows[Piece];
  for (std::size_t plane = 0; plane < Piece; ++plane)
    rows[plane] = load_bytes(planes + plane * count);
  interleave(rows);
  std::byte pieces[lanes * Piece];
  std::memcpy(pieces, rows, sizeof pieces);
  for (std::size_t i = 0; i < lanes; ++i) std::memcpy(out + i * size, pieces + i * Piece, Piece);
}

/// Joins elements of any size, in pieces of 16 bytes and then of smaller powers of two.
void join_in_pieces(const std::byte* planes, std::size_t count, std::size_t elements,
                    std::size_t size, std::byte* out) noexcept {
  for (std::size_t i = 0; i < elements; i += lanes) {
    const std::byte* from = planes + i;
    std::byte* to = out + i * size;
    const auto join = [&](auto join_some, std::size_t piece) {
      join_some(from, count, size, to);
      from += piece * count;
      to += piece;
    };
    for (std::size_t left = size / 16; left != 0; --left) join(join_piece<16>, 16);
    if ((size & 8U) != 0) join(join_piece<8>, 8);
    if ((size & 4U) != 0) join(join_piece<4>, 4);
    if ((size & 2U) != 0) join(join_piece<2>, 2);
    if ((size & 1U) != 0) join(join_piece<1>, 1);
  }
}

/// A byte_vector for shifts, because x86-64 cannot shift single bytes; bits that cross into a
/// neighbor are masked away.
using pair_vector __attribute__((vector_size(16))) = std::uint16_t;

/// Swaps the bits of `a` that are `shift` above those of `mask` with the bits of `b` at `mask`.
void swap_bits(pair_vector& a, pair_vector& b, std::uint16_t mask, unsigned shift) noexcept {
  const pair_vector difference = ((a >> shift) ^ b) & mask;
  b ^= difference;
  a ^= difference << shift;
}

/// Bit i of a byte in row j becomes bit j of that byte in row i. In each of 16 columns this
/// transposes an 8 × 8 matrix, by quarters, then by quarters of those, and so on (Hacker's Delight,
/// 7-3).
void transpose_bits(pair_vector (&rows)[8]) noexcept {
  for (const std::size_t row : {0U, 1U, 2U, 3U}) swap_bits(rows[row], rows[row + 4], 0x0f0f, 4);
  for (const std::size_t row : {0U, 1U, 4U, 5U}) swap_bits(rows[row], rows[row + 2], 0x3333, 2);
  for (const std::size_t row : {0U, 2U, 4U, 6U}) swap_bits(rows[row], rows[row + 1], 0x5555, 1);
}

/// The same for a single column, where row j is byte j from the lowest.
constexpr std::uint64_t transpose_bits(std::uint64_t rows) noexcept {
  std::uint64_t swapped = (rows ^ (rows >> 7U)) & 0x00aa00aa00aa00aaULL;
  rows ^= swapped ^ (swapped << 7U);
  swapped = (rows ^ (rows >> 14U)) & 0x0000cccc0000ccccULL;
  rows ^= swapped ^ (swapped << 14U);
  swapped = (rows ^ (rows >> 28U)) & 0x00000000f0f0f0f0ULL;
  return rows ^ swapped ^ (swapped << 28U);
}

/// Turns eight planes of bits, each of `width` bytes, into eight times as many bytes.
void join_eight(const std::byte* planes, std::size_t width, std::byte* out) noexcept {
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

void join_byte_planes(const std::byte* planes, std::size_t count, std::size_t size,
                      std::byte* out) noexcept {
  if (count == 0) return;
  const std::size_t elements = count / lanes * lanes;
  constexpr std::array joins{join_whole<1>, join_whole<2>, join_whole<4>, join_whole<8>,
                             join_whole<16>};
  if (std::has_single_bit(size) && size <= 16)
    joins[static_cast<std::size_t>(std::countr_zero(size))](planes, count, elements, out);
  else
    join_in_pieces(planes, count, elements, size, out);
  for (std::size_t plane = 0; plane < size; ++plane)
    for (std::size_t i = elements; i < count; ++i)
      out[i * size + plane] = planes[plane * count + i];
}

void join_bit_planes(const std::byte* planes, std::size_t count, std::size_t size,
                     std::span<std::byte> between, std::byte* out) noexcept {
  std::byte* const bytes = size == 1 ? out : between.data();
  for (std::size_t byte = 0; byte < size; ++byte)
    join_eight(planes + byte * count, count / 8, bytes + byte * count);
  if (size != 1) join_byte_planes(bytes, count, size, out);
}

}  // namespace feedline::detail
