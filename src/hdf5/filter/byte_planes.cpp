#include "hdf5/filter/byte_planes.hpp"

namespace feedline::detail {

namespace {

constexpr std::size_t lanes = sizeof(byte_vector);  ///< elements that are put together at once

/// Elements that are as large as a vector instruction likes them.
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

/// As many elements as a vector has lanes: those of their bytes that lie in `Piece` planes.
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

/// Elements of any size, in pieces of 16 bytes and then of smaller powers of two.
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

}  // namespace

void join_byte_planes(const std::byte* planes, std::size_t count, std::size_t size,
                      std::byte* out) noexcept {
  if (count == 0) return;
  const std::size_t elements = count / lanes * lanes;
  switch (size) {
    case 1:
      std::memcpy(out, planes, count);
      return;
    case 2:
      join_whole<2>(planes, count, elements, out);
      break;
    case 4:
      join_whole<4>(planes, count, elements, out);
      break;
    case 8:
      join_whole<8>(planes, count, elements, out);
      break;
    case 16:
      join_whole<16>(planes, count, elements, out);
      break;
    default:
      join_in_pieces(planes, count, elements, size, out);
      break;
  }
  for (std::size_t plane = 0; plane < size; ++plane)
    for (std::size_t i = elements; i < count; ++i)
      out[i * size + plane] = planes[plane * count + i];
}

}  // namespace feedline::detail
