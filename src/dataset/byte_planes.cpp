#include "dataset/byte_planes.hpp"

#include <algorithm>

namespace feedline::detail {

namespace {

/// Any size, from element `first` on.
void join_one_by_one(const std::byte* planes, std::size_t first, std::size_t count,
                     std::size_t size, std::byte* out) noexcept {
  constexpr std::size_t together = 64;  // elements: a cache line of each plane
  for (std::size_t begin = first; begin < count; begin += together) {
    const std::size_t end = std::min(begin + together, count);
    for (std::size_t plane = 0; plane < size; ++plane)
      for (std::size_t i = begin; i < end; ++i) out[i * size + plane] = planes[plane * count + i];
  }
}

template <std::size_t Size>
void join_vectors(const std::byte* planes, std::size_t count, std::byte* out) noexcept {
  constexpr std::size_t lanes = sizeof(byte_vector);
  const std::size_t whole = count / lanes * lanes;
  for (std::size_t i = 0; i < whole; i += lanes) {
    byte_vector rows[Size];
    for (std::size_t plane = 0; plane < Size; ++plane)
      rows[plane] = load_bytes(planes + plane * count + i);
    interleave(rows);
    for (std::size_t part = 0; part < Size; ++part)
      store_bytes(rows[part], out + i * Size + part * lanes);
  }
  join_one_by_one(planes, whole, count, Size, out);
}

}  // namespace

void join_byte_planes(const std::byte* planes, std::size_t count, std::size_t size,
                      std::byte* out) noexcept {
  if (count == 0) return;
  switch (size) {
    case 1:
      std::memcpy(out, planes, count);
      break;
    case 2:
      join_vectors<2>(planes, count, out);
      break;
    case 4:
      join_vectors<4>(planes, count, out);
      break;
    case 8:
      join_vectors<8>(planes, count, out);
      break;
    case 16:
      join_vectors<16>(planes, count, out);
      break;
    default:
      join_one_by_one(planes, 0, count, size, out);
      break;
  }
}

}  // namespace feedline::detail
