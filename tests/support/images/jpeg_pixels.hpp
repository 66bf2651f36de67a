#pragma once

#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/idct.hpp"
#include "codecs/jpeg/pixels.hpp"
#include "support/images/image_bytes.hpp"
#include "support/images/jpeg_scans.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace feedline::test {

// Pixels by the parts that GPUs' kernels are made of, lane by lane.

/// Whether libjpeg's pixels are those that devices make, whatever the coefficients: its vector code
/// for x86-64 is what defines them. On other processors only images' coefficients give the same.
#if defined(__x86_64__)
inline constexpr bool libjpeg_is_reference = true;
#else
inline constexpr bool libjpeg_is_reference = false;
#endif

/// Makes samples of blocks in place, as a GPU does: eight lanes a block, each of which multiplies
/// eight coefficients, then has a column, then a row.
inline void transform_jpeg_blocks(const jpeg_file& file, std::vector<std::int16_t>& blocks) {
  constexpr std::size_t lanes = 8;
  detail::jpeg_factors factors;
  detail::build(factors, file.data, file.frame);
  for (std::uint32_t number = 0; number < file.blocks(); ++number) {
    std::int16_t* const block = blocks.data() + std::size_t{number} * detail::jpeg_block_samples;
    const auto& factors_of = factors.of[file.frame.component(number % file.frame.blocks())];
    alignas(8) std::int16_t products[detail::jpeg_block_samples];
    bool is_flat = true;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      detail::jpeg_eight eight;
      std::memcpy(eight.coefficients, block + lane * lanes, sizeof eight.coefficients);
      std::memcpy(eight.factors, factors_of + lane * lanes, sizeof eight.factors);
      if (!detail::place_jpeg_products(eight, detail::jpeg_places(8 * lane), products))
        is_flat = false;
    }
    detail::jpeg_idct_line columns[lanes];
    for (std::size_t x = 0; x < lanes; ++x) {
      for (std::size_t y = 0; y < lanes; ++y) columns[x].value[y] = products[x * lanes + y];
      detail::jpeg_idct_column(columns[x], is_flat);
    }
    auto* const samples = reinterpret_cast<std::uint8_t*>(block);
    for (std::size_t y = 0; y < lanes; ++y) {
      detail::jpeg_idct_line row;
      for (std::size_t x = 0; x < lanes; ++x) row.value[x] = columns[x].value[y];
      detail::jpeg_idct_row(row);
      for (std::size_t x = 0; x < lanes; ++x)
        samples[y * lanes + x] = static_cast<std::uint8_t>(row.value[x]);
    }
  }
}

/// Makes pixels of samples, as the threads of a GPU do: tile by tile.
inline pixels make_jpeg_pixels(const detail::jpeg_frame& frame, const std::uint8_t* samples,
                               bool wants_grey = false) {
  using tile = detail::jpeg_chroma_tile;
  constexpr std::uint32_t threads = 32;
  const detail::jpeg_pixels made{samples, frame, wants_grey};
  const std::size_t row_bytes = detail::jpeg_row_bytes(frame.width);
  std::vector<std::uint8_t> planes(row_bytes * 3 * frame.height);
  for (std::uint32_t top = 0; top < frame.height; top += tile::height)
    for (std::uint32_t left = 0; left < frame.width; left += tile::width) {
      auto chroma = std::make_unique<tile>();
      std::memset(chroma->samples, 0x5A, sizeof chroma->samples);
      for (std::uint32_t i = 0; i < threads; ++i) made.fill(*chroma, top, left, i, threads);
      const std::uint32_t bottom = std::min<std::uint32_t>(top + tile::height, frame.height);
      const std::uint32_t right = std::min<std::uint32_t>(left + tile::width, frame.width);
      for (std::uint32_t y = top; y < bottom; y += detail::jpeg_pixels::square)
        for (std::uint32_t x = left; x < right; x += detail::jpeg_pixels::square)
          made.make(*chroma, y, x, planes.data());
    }
  pixels image{frame.height, frame.width, wants_grey ? 1U : 3U, {}};
  for (std::uint32_t y = 0; y < frame.height; ++y)
    for (std::uint32_t x = 0; x < frame.width; ++x)
      for (std::uint32_t channel = 0; channel < image.channels; ++channel)
        image.values.push_back(planes[(std::size_t{3} * y + channel) * row_bytes + x]);
  return image;
}

/// @tparam Lanes Number of lanes that read the scan; 0: one reader.
/// @return Nothing if devices do not take the file, or its scan is not whole.
template <std::uint32_t Lanes>
std::optional<pixels> decode_jpeg_by_parts(const byte_vector& bytes, bool wants_grey = false) {
  const jpeg_file file{bytes};
  if (!file.is_read) return {};
  jpeg_scan_result found = read_jpeg_scan<Lanes>(file);
  if (!found.is_whole) return {};
  transform_jpeg_blocks(file, found.blocks);
  return make_jpeg_pixels(file.frame, reinterpret_cast<const std::uint8_t*>(found.blocks.data()),
                          wants_grey);
}

}  // namespace feedline::test
