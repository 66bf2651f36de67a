#pragma once

#include "detail/host_device.hpp"
#include "detail/packed_bytes.hpp"
#include "image/resize/filter_taps.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Taps of elements of an axis, computed once for all resizes along it. Each element has a
/// record of words: its first source element, and pairs of signed weights, of which some may be 0.
class packed_taps {
 public:
  /// How a word holds two weights.
  enum class packing : std::uint8_t {
    halves,  ///< in 16 bits each; the number of pairs is even
    bytes,   ///< the low byte of each, then the high byte of each; first elements are even
  };

  /// @param from, to Like those of `resample_taps`. @param begin The first element that has a
  ///              record. @param source Number of elements before those that are resized: first
  ///              elements count them. @param is_mirrored Taps are those of the mirrored axis,
  ///              mirrored back.
  FEEDLINE_HOST_DEVICE constexpr packed_taps(interpolation filter, packing packs,
                                             std::uint32_t from, std::uint32_t to,
                                             std::uint32_t begin, std::uint32_t source = 0,
                                             bool is_mirrored = false) noexcept
      : filter_{filter},
        packs_{packs},
        from_{from},
        to_{to},
        begin_{begin},
        source_{source},
        is_mirrored_{is_mirrored},
        pairs_{pairs_of(packs, tap_count(filter, from, to))} {}

  /// Bound on the words of an axis' records. @param from May be more than the axis has.
  [[nodiscard]] static constexpr std::uint64_t max_words(interpolation filter, std::uint64_t from,
                                                         std::uint32_t elements) noexcept {
    if (filter == interpolation::bicubic) return 2 * from + std::uint64_t{4} * elements;
    return from + std::uint64_t{3} * elements;
  }
  /// Pairs of weights in each record.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t pairs() const noexcept {
    return pairs_;
  }

  /// Pairs that a thread should write at once. A triangle's weights are known without those before
  /// them, and finding their element takes longer than computing some; a curve's are not.
  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t pairs_at_once() const noexcept {
    constexpr std::uint32_t some = 4;
    return filter_ == interpolation::bicubic ? pairs_ : some;
  }

  /// Writes a part of a record. @param i Index of the element, counted from `begin`. @param
  /// first_pair, end_pair The pairs that are written.
  FEEDLINE_HOST_DEVICE void write(std::uint32_t i, std::uint32_t first_pair, std::uint32_t end_pair,
                                  std::uint32_t* record) const noexcept {
    const std::uint32_t at = begin_ + i;
    with_taps(filter_, from_, to_, is_mirrored_ ? to_ - 1 - at : at, [&](auto taps) {
      if (is_mirrored_)
        write_mirrored(taps, first_pair, end_pair, record);
      else
        write(taps, first_pair, end_pair, record);
    });
  }

 private:
  template <class Taps>
  FEEDLINE_HOST_DEVICE void write(Taps& taps, std::uint32_t first_pair, std::uint32_t end_pair,
                                  std::uint32_t* record) const noexcept {
    const std::uint32_t first = source_ + taps.first();
    const std::uint32_t unused = packs_ == packing::bytes ? first % 2 : 0;  // zeros in front
    const auto weight_before = [&](std::uint32_t weight) {
      const std::uint32_t tap = weight < unused ? 0 : weight - unused;
      return static_cast<std::uint32_t>(
          taps.weight_before(tap < taps.count() ? tap : taps.count()));
    };
    if (first_pair == 0) record[0] = first - unused;
    std::uint32_t begin = weight_before(2 * first_pair);
    for (std::uint32_t pair = first_pair; pair < end_pair; ++pair) {
      const std::uint32_t middle = weight_before(2 * pair + 1);
      const std::uint32_t end = weight_before(2 * pair + 2);
      const std::uint32_t halves = ((middle - begin) & 0xFFFFU) | (end - middle) << 16U;
      record[1 + pair] = packed(halves);
      begin = end;
    }
  }

  /// From the last pair to the first, because the mirrored axis' taps come in this order.
  template <class Taps>
  FEEDLINE_HOST_DEVICE void write_mirrored(Taps& taps, std::uint32_t first_pair,
                                           std::uint32_t end_pair,
                                           std::uint32_t* record) const noexcept {
    const std::uint32_t first = source_ + from_ - taps.count() - taps.first();
    const std::uint32_t unused = packs_ == packing::bytes ? first % 2 : 0;
    const auto weight = [&](std::uint32_t number) {
      const std::uint32_t mirrored = number - unused;  // wraps below 0
      if (mirrored >= taps.count()) return std::uint32_t{0};
      const std::uint32_t tap = taps.count() - 1 - mirrored;
      const std::int32_t before = taps.weight_before(tap);
      return static_cast<std::uint32_t>(taps.weight_before(tap + 1) - before);
    };
    if (first_pair == 0) record[0] = first - unused;
    for (std::uint32_t pair = end_pair; pair-- > first_pair;) {
      const std::uint32_t second = weight(2 * pair + 1);
      record[1 + pair] = packed((weight(2 * pair) & 0xFFFFU) | second << 16U);
    }
  }

  [[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint32_t packed(
      std::uint32_t halves) const noexcept {
    return packs_ == packing::bytes ? choose_bytes(halves, 0, 0x3120) : halves;
  }

  FEEDLINE_HOST_DEVICE static constexpr std::uint32_t pairs_of(packing packs,
                                                               std::uint32_t taps) noexcept {
    return packs == packing::bytes ? (taps + 2) / 2 : (taps + 3) / 4 * 2;
  }

  interpolation filter_;
  packing packs_;
  std::uint32_t from_;
  std::uint32_t to_;
  std::uint32_t begin_;
  std::uint32_t source_;
  bool is_mirrored_;
  std::uint32_t pairs_;
};

/// Eight elements between the two axes, 16 bits each, signed: see `line_bits`.
struct packed_line {
  std::uint32_t word[4];
};

/// See `sum_rows`.
inline constexpr std::uint32_t max_rows_beyond = 3;

/// Sums of eight columns of bytes over the rows of a record of `packing::halves`. Up to
/// `max_rows_beyond` more rows are read, even after the last row, with weight 0.
/// @param columns The columns' first row; aligned to 8, like `row_bytes`.
[[nodiscard]] FEEDLINE_HOST_DEVICE inline packed_line sum_rows(const std::uint8_t* columns,
                                                               std::uint32_t row_bytes,
                                                               const std::uint32_t* record,
                                                               std::uint32_t pairs) {
  std::uint32_t sums[8];
  for (std::uint32_t& sum : sums) sum = row_half;
  const std::uint8_t* at = columns + std::size_t{row_bytes} * record[0];
  // Loads four rows at once, so that a GPU waits for all of them together.
  const auto add_rows = [&](const std::uint32_t* weights) {
    two_words rows[4];
    for (std::size_t i = 0; i < 4; ++i) rows[i] = load_two_words(at + row_bytes * i);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint32_t upper = rows[i / 2 * 2].word[i % 2];
      const std::uint32_t lower = rows[i / 2 * 2 + 1].word[i % 2];
      const std::uint32_t left = choose_bytes(upper, lower, 0x5140);
      const std::uint32_t right = choose_bytes(upper, lower, 0x7362);
      std::uint32_t* const four = sums + i % 2 * 4;
      four[0] = add_low_products(weights[i / 2], left, four[0]);
      four[1] = add_high_products(weights[i / 2], left, four[1]);
      four[2] = add_low_products(weights[i / 2], right, four[2]);
      four[3] = add_high_products(weights[i / 2], right, four[3]);
    }
  };
  add_rows(record + 1);
  FEEDLINE_SHORT_LOOP
  for (std::uint32_t pair = 2; pair < pairs; pair += 2) {
    at += std::size_t{row_bytes} * 4;
    add_rows(record + 1 + pair);
  }
  static_assert(row_shift == 8, "bytes 1 and 2 of a sum are taken");
  packed_line line;
  for (std::size_t i = 0; i < 4; ++i)
    line.word[i] = choose_bytes(sums[2 * i], sums[2 * i + 1], 0x6521);
  return line;
}

/// A sum along a line, or along a part of it, by records of `packing::bytes`.
class column_sum {
 public:
  /// @param two Two elements of a line, an even one and the next. @param weights A pair of weights.
  FEEDLINE_HOST_DEVICE void add(std::uint32_t two, std::uint32_t weights) {
    low_ = add_low_products(two, weights, low_);
    high_ = add_signed_high_products(two, weights, high_);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t sum() const { return low_ + (high_ << 8U); }

 private:
  // Modulo 2^32; the true sum, which is signed, fits.
  std::uint32_t low_ = 0;
  std::uint32_t high_ = 0;
};

/// The value of a pixel. @param sum Sum of its `column_sum`s. It may be outside a byte's range,
/// because some weights may be negative.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint8_t pixel_of(std::uint32_t sum) noexcept {
  const std::int32_t value = static_cast<std::int32_t>(column_half + sum) >> column_shift;
  const std::int32_t low = value < 255 ? value : 255;
  return static_cast<std::uint8_t>(low < 0 ? 0 : low);
}

}  // namespace feedline::detail
