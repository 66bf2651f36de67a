#include "arrays/copy_box.hpp"

#include "detail/byte_order.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace feedline::detail {
namespace {

struct dimension {
  std::uint64_t count;
  std::ptrdiff_t from;
  std::ptrdiff_t to;
};

/// Dimensions of more than one element, the destination's nearest last; those that are dense
/// together are one.
struct dimensions {
  std::array<dimension, max_rank> each;
  std::size_t rank = 0;

  explicit dimensions(const strided_copy& what) noexcept {
    for (std::size_t d = 0; d < what.count.size(); ++d)
      if (what.count[d] > 1) each[rank++] = {what.count[d], what.from_stride[d], what.to_stride[d]};
    const auto nearer = [](const dimension& a, const dimension& b) {
      return std::abs(a.to) > std::abs(b.to);
    };
    if (!std::is_sorted(each.begin(), each.begin() + rank, nearer))
      std::sort(each.begin(), each.begin() + rank, nearer);
    for (std::size_t d = rank; d-- > 1;) {
      const dimension& inner = each[d];
      dimension& outer = each[d - 1];
      const auto length = static_cast<std::ptrdiff_t>(inner.count);
      if (outer.from != inner.from * length || outer.to != inner.to * length) continue;
      outer = {outer.count * inner.count, inner.from, inner.to};
      std::copy(each.begin() + static_cast<std::ptrdiff_t>(d) + 1,
                each.begin() + static_cast<std::ptrdiff_t>(rank),
                each.begin() + static_cast<std::ptrdiff_t>(d));
      --rank;
    }
  }
};

template <class Word, bool Swaps>
void copy_line(const dimension& line, const std::byte* from, std::byte* to) noexcept {
  for (std::uint64_t i = 0; i < line.count; ++i, from += line.from, to += line.to) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    if constexpr (Swaps && sizeof word > 1) word = reversed(word);
    std::memcpy(to, &word, sizeof word);
  }
}

void copy_bytes(const dimension& line, const std::byte* from, std::byte* to,
                std::size_t bytes) noexcept {
  for (std::uint64_t i = 0; i < line.count; ++i, from += line.from, to += line.to)
    std::memcpy(to, from, bytes);
}

template <bool Swaps>
void copy_words(const dimension& line, const std::byte* from, std::byte* to,
                std::size_t bytes) noexcept {
  switch (bytes) {
    case 1:
      return copy_line<std::uint8_t, false>(line, from, to);
    case 2:
      return copy_line<std::uint16_t, Swaps>(line, from, to);
    case 4:
      return copy_line<std::uint32_t, Swaps>(line, from, to);
    case 8:
      return copy_line<std::uint64_t, Swaps>(line, from, to);
    default:
      return copy_bytes(line, from, to, bytes);
  }
}

}  // namespace

void copy_box(const strided_copy& what) noexcept {
  dimensions all{what};
  const auto bytes = static_cast<std::ptrdiff_t>(what.element_bytes);
  dimension line{1, bytes, bytes};
  if (all.rank != 0) line = all.each[--all.rank];
  const bool is_run = line.from == bytes && line.to == bytes;
  std::array<std::uint64_t, max_rank> at{};
  const std::byte* from = what.from;
  std::byte* to = what.to;
  for (;;) {
    if (is_run && !what.swaps)
      std::memcpy(to, from, static_cast<std::size_t>(line.count) * what.element_bytes);
    else if (what.swaps)
      copy_words<true>(line, from, to, what.element_bytes);
    else
      copy_words<false>(line, from, to, what.element_bytes);
    std::size_t d = all.rank;
    for (; d-- > 0;) {
      from += all.each[d].from;
      to += all.each[d].to;
      if (++at[d] < all.each[d].count) break;
      from -= all.each[d].from * static_cast<std::ptrdiff_t>(all.each[d].count);
      to -= all.each[d].to * static_cast<std::ptrdiff_t>(all.each[d].count);
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace feedline::detail
