#include "rows/copy_spread.hpp"

#include <cstring>

namespace feedline::detail {
namespace {

/// Of a size known to the compiler: one load and one store each.
template <std::size_t Bytes>
void copy_small(const std::byte* from, std::size_t stride, std::size_t count,
                std::byte* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(out + i * Bytes, from + i * stride, Bytes);
}

}  // namespace

void copy_spread(const std::byte* from, std::size_t stride, std::size_t count,
                 std::size_t element_bytes, std::byte* out) noexcept {
  if (stride == element_bytes) {
    std::memcpy(out, from, count * element_bytes);
    return;
  }
  switch (element_bytes) {
    case 1:
      return copy_small<1>(from, stride, count, out);
    case 2:
      return copy_small<2>(from, stride, count, out);
    case 4:
      return copy_small<4>(from, stride, count, out);
    case 8:
      return copy_small<8>(from, stride, count, out);
    default:
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(out + i * element_bytes, from + i * stride, element_bytes);
  }
}

}  // namespace feedline::detail
