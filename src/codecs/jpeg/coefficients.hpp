#pragma once

#include "codecs/jpeg/frame.hpp"
#include "detail/host_device.hpp"
#include "detail/packed_bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The samples or coefficients of a block.
inline constexpr std::uint32_t jpeg_block_samples = 64;

/// Factors by which each component's coefficients are multiplied, in the order of scans (zigzag).
struct jpeg_factors {
  alignas(8) std::uint8_t of[3][jpeg_block_samples];
};

/// @param frame Result of `read_jpeg_frame` for the file.
FEEDLINE_HOST_DEVICE inline void build(jpeg_factors& factors, const std::uint8_t* file,
                                       const jpeg_frame& frame) {
  for (std::uint32_t i = 0; i < frame.components; ++i)
    for (std::uint32_t k = 0; k < jpeg_block_samples; ++k)
      factors.of[i][k] = file[frame.quantization[frame.tables[i].quantization] + k];
}

/// Positions of eight coefficients in a block, column * 8 + row, in the order of a scan.
/// @param first Index of the first coefficient; its position is the lowest byte.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::uint64_t jpeg_places(std::uint32_t first) {
  std::uint64_t places = 0;
  std::uint32_t y = 0;
  std::uint32_t x = 0;
  for (std::uint32_t k = 0; k < first + 8; ++k) {
    if (k >= first) places |= std::uint64_t{x * 8 + y} << (k - first) * 8;
    const bool goes_up = (y + x) % 2 == 0;
    std::uint32_t& ahead = goes_up ? x : y;
    std::uint32_t& back = goes_up ? y : x;
    if (ahead == 7) {
      ++back;
    } else {
      ++ahead;
      if (back > 0) --back;
    }
  }
  return places;
}

/// A coefficient multiplied by its factor. The product is cut to 16 bits, as in libjpeg's vector
/// code.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int16_t jpeg_product(std::int32_t coefficient,
                                                                       std::uint32_t factor) {
  return static_cast<std::int16_t>(static_cast<std::uint32_t>(coefficient) * factor);
}

/// Eight coefficients of a block in a scan's order, and their factors: the first of each word is
/// the lowest.
struct jpeg_eight {
  std::uint32_t coefficients[4];  ///< two in a word
  std::uint32_t factors[2];       ///< four in a word
};

/// Multiplies eight coefficients by their factors, and stores the products at their positions.
/// @param places `jpeg_places` of the first one. @param products Products of the block, column by
///               column.
/// @return Whether all of the eight that are not in the block's first row are 0.
FEEDLINE_HOST_DEVICE inline bool place_jpeg_products(const jpeg_eight& eight, std::uint64_t places,
                                                     std::int16_t* products) {
  std::uint32_t lower = 0;
  for (std::uint32_t i = 0; i < 8; ++i) {
    const auto coefficient = static_cast<std::int16_t>(eight.coefficients[i / 2] >> i % 2 * 16);
    const auto place = static_cast<std::uint32_t>(places >> i * 8) & 255U;
    products[place] = jpeg_product(coefficient, eight.factors[i / 4] >> i % 4 * 8 & 255U);
    lower |= static_cast<std::uint32_t>(coefficient) * (place % 8);
  }
  return lower == 0;
}

/// The number that the bits after a code represent.
/// @param next Begins with the bits. @param count 15 at most; no bits represent 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int32_t jpeg_value(std::uint32_t next,
                                                                     std::uint32_t count) {
  const bool is_negative = next >> 31U == 0;
  return static_cast<std::int32_t>(next >> 1U >> (31U - count)) -
         (is_negative ? (1 << count) - 1 : 0);
}

/// Writes a scan's coefficients to consecutive blocks, in the scan's form: in zigzag order, and not
/// multiplied. So the scan's decoder needs to know only a coefficient's index.
class jpeg_coefficient_writer {
 public:
  /// @param blocks Zeros; aligned to 8. @param count Number of blocks: later blocks are not
  ///               written.
  FEEDLINE_HOST_DEVICE jpeg_coefficient_writer(std::int16_t* blocks, std::uint32_t count)
      : blocks_{blocks}, count_{count} {}

  /// Any thread may call it, but only one for each coefficient.
  /// @param k Index of the coefficient. An index past the last one replaces the last, as in
  ///          libjpeg.
  FEEDLINE_HOST_DEVICE void write(std::uint32_t block, std::uint32_t k, std::int32_t value) const {
    constexpr std::uint32_t last = jpeg_block_samples - 1;
    if (block < count_) begin_of(block)[k < last ? k : last] = static_cast<std::int16_t>(value);
  }
  /// Writes four coefficients of a block, from `first` on, a multiple of 4.
  /// @param four The first coefficient is the lowest.
  FEEDLINE_HOST_DEVICE void write_four(std::uint32_t block, std::uint32_t first,
                                       std::uint64_t four) const {
    if (block < count_)
      store_two_words(
          reinterpret_cast<std::uint8_t*>(begin_of(block) + first),
          {{static_cast<std::uint32_t>(four), static_cast<std::uint32_t>(four >> 32U)}});
  }
  /// A block's first coefficient, in its written form.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t first(std::uint32_t block) const {
    return block < count_ ? *begin_of(block) : 0;
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int16_t* begin_of(std::uint32_t block) const {
    return blocks_ + std::size_t{block} * jpeg_block_samples;
  }

  std::int16_t* blocks_;
  std::uint32_t count_;
};

/// Writes the coefficients of one segment of a scan, four at once if they are adjacent: lanes of a
/// GPU write to different blocks, so each store is a separate transaction.
class jpeg_segment_writer {
 public:
  /// @param block, passed Begin of the segment. Coefficients before it belong to another segment.
  FEEDLINE_HOST_DEVICE jpeg_segment_writer(const jpeg_coefficient_writer& to, std::uint32_t block,
                                           std::uint32_t passed)
      : to_{to}, number_{block * fours + passed / 4}, begin_{passed % 4} {}

  /// @param block, k Like those of `jpeg_coefficient_writer`; after those of earlier calls.
  FEEDLINE_HOST_DEVICE void write(std::uint32_t block, std::uint32_t k, std::int32_t value) {
    constexpr std::uint32_t last = jpeg_block_samples - 1;
    if (k > last) k = last;
    const std::uint32_t number = block * fours + k / 4;
    if (number != number_) {
      if (begin_ == 0)
        to_.write_four(number_ / fours, number_ % fours * 4, four_);
      else
        write_each(4);
      number_ = number;
      begin_ = 0;
      four_ = 0;
    }
    end_ = k % 4 + 1;
    const std::uint32_t shift = k % 4 * 16;
    four_ = (four_ & ~(std::uint64_t{0xFFFF} << shift)) |
            std::uint64_t{static_cast<std::uint16_t>(value)} << shift;
  }
  /// Writes the remaining coefficients.
  FEEDLINE_HOST_DEVICE void end() const { write_each(end_); }

 private:
  static constexpr std::uint32_t fours = jpeg_block_samples / 4;

  /// Writes the segment's part of a group of four, to which another segment may contribute, too.
  FEEDLINE_HOST_DEVICE void write_each(std::uint32_t end) const {
    for (std::uint32_t i = begin_; i < end; ++i)
      to_.write(number_ / fours, number_ % fours * 4 + i,
                static_cast<std::int16_t>(four_ >> i * 16));
  }

  jpeg_coefficient_writer to_;
  std::uint32_t number_;    ///< index of the group of four, among those of all blocks
  std::uint32_t begin_;     ///< index in the group of the segment's first coefficient
  std::uint32_t end_ = 0;   ///< end of the coefficients that were written to the group
  std::uint64_t four_ = 0;  ///< the group's coefficients
};

}  // namespace feedline::detail
