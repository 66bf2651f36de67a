#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/frame.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// The samples or coefficients of a block.
inline constexpr std::uint32_t jpeg_block_samples = 64;

/// What becomes of the coefficients of each component, in zigzag order.
struct jpeg_factors {
  std::uint16_t of[3][jpeg_block_samples];  ///< the factor, and where in the block it goes << 8
};

/// @param frame What `read_jpeg_frame` said of the file.
FEEDLINE_HOST_DEVICE inline void build(jpeg_factors& factors, const std::uint8_t* file,
                                       const jpeg_frame& frame) {
  std::uint32_t y = 0;
  std::uint32_t x = 0;
  for (std::uint32_t k = 0; k < jpeg_block_samples; ++k) {
    for (std::uint32_t i = 0; i < frame.components; ++i) {
      const std::uint32_t factor = file[frame.quantization[frame.tables[i].quantization] + k];
      factors.of[i][k] = static_cast<std::uint16_t>((y * 8 + x) << 8U | factor);
    }
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
}

/// The number that the bits behind a code mean.
/// @param next Begins with them. @param count 15 at most; the number of none is 0.
[[nodiscard]] FEEDLINE_HOST_DEVICE constexpr std::int32_t jpeg_value(std::uint32_t next,
                                                                     std::uint32_t count) {
  const bool is_negative = next >> 31U == 0;
  return static_cast<std::int32_t>(next >> 1U >> (31U - count)) -
         (is_negative ? (1 << count) - 1 : 0);
}

/// Writes a scan's coefficients, multiplied by their factors, to blocks that lie as the scan has
/// them, one behind the other. They are kept in 16 bits, as libjpeg's vector code does.
class jpeg_coefficient_writer {
 public:
  /// @param blocks Zeros. @param count Of blocks: those behind it are not written.
  FEEDLINE_HOST_DEVICE jpeg_coefficient_writer(const jpeg_factors& factors, std::int16_t* blocks,
                                               std::uint32_t count)
      : factors_{factors}, blocks_{blocks}, count_{count} {}

  /// Any thread; each coefficient by one.
  /// @param k Its number in zigzag order. One behind the last replaces that, as in libjpeg.
  FEEDLINE_HOST_DEVICE void write(std::uint32_t block, std::uint32_t component, std::uint32_t k,
                                  std::int32_t value) const {
    if (block >= count_) return;
    const std::uint32_t last = jpeg_block_samples - 1;
    const std::uint32_t factor = factors_.of[component][k < last ? k : last];
    blocks_[std::size_t{block} * jpeg_block_samples + (factor >> 8U)] =
        static_cast<std::int16_t>(static_cast<std::uint32_t>(value) * (factor & 255U));
  }

  /// Writes by how much a block's first coefficient differs from that of the block before, for
  /// `difference`, until that coefficient is written.
  FEEDLINE_HOST_DEVICE void write_difference(std::uint32_t block, std::int32_t value) const {
    if (block < count_) first_of(block) = static_cast<std::int16_t>(value);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int32_t difference(std::uint32_t block) const {
    return block < count_ ? first_of(block) : 0;
  }

 private:
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::int16_t& first_of(std::uint32_t block) const {
    return blocks_[std::size_t{block} * jpeg_block_samples];
  }

  const jpeg_factors& factors_;
  std::int16_t* blocks_;
  std::uint32_t count_;
};

}  // namespace feedline::detail
