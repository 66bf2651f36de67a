#pragma once

#include "cuda/assembly/elements.cuh"
#include "cuda/assembly/geometry.cuh"
#include "cuda/assembly/rows.cuh"
#include "device/augmentation_draws.hpp"
#include "device/resize_taps.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// A sample's image, as it is to become.
struct augmented_image {
  const std::byte* row;
  image_window crop;   ///< unless it is resized
  image_part resized;  ///< what is, else
  bool flipped;
};

/// The taps of the rows and columns that a block works at. They take 64-bit divisions, so that no
/// pixel works out its own, unless there are too many.
class block_taps {
 public:
  static constexpr std::uint32_t most = 512;

  struct memory {
    resize_taps rows[most];
    resize_taps columns[most];
  };

  /// All threads of a block make them, unless nothing is resized. @param rows The first row, and
  /// the one behind the last.
  __device__ block_taps(memory& shared, const conversion& by, const augmented_image& image,
                        std::uint32_t first_row, std::uint32_t end_row)
      : shared_{shared},
        by_{by},
        image_{image},
        first_row_{first_row},
        keeps_rows_{end_row - first_row <= most},
        keeps_columns_{by.to_width <= most} {
    if (!by.augmentation.resizes) return;
    __syncthreads();  // those before are used no more
    for (std::uint32_t i = threadIdx.x; keeps_columns_ && i < by.to_width; i += block_threads)
      shared.columns[i] = make_column(i);
    for (std::uint32_t i = threadIdx.x; keeps_rows_ && i < end_row - first_row; i += block_threads)
      shared.rows[i] = make_row(first_row + i);
    __syncthreads();
  }

  [[nodiscard]] __device__ resize_taps row(std::uint32_t y) const {
    return keeps_rows_ ? shared_.rows[y - first_row_] : make_row(y);
  }
  /// @param x Of the batch's image.
  [[nodiscard]] __device__ resize_taps column(std::uint32_t x) const {
    return keeps_columns_ ? shared_.columns[x] : make_column(x);
  }

 private:
  [[nodiscard]] __device__ resize_taps make_row(std::uint32_t y) const {
    return taps_of(y, image_.resized.height, by_.to_height);
  }
  [[nodiscard]] __device__ resize_taps make_column(std::uint32_t x) const {
    return taps_of(image_.flipped ? by_.to_width - 1 - x : x, image_.resized.width, by_.to_width);
  }

  memory& shared_;
  const conversion& by_;
  const augmented_image& image_;
  std::uint32_t first_row_;
  bool keeps_rows_;
  bool keeps_columns_;
};

/// A pixel of the batch's image, resized or cropped: three channels from `first` on, or as many as
/// there are.
template <class T>
__device__ __forceinline__ color moved_color(const conversion& by, const augmented_image& image,
                                             const block_taps& taps, std::uint32_t y,
                                             std::uint32_t x, std::uint32_t first) {
  const std::uint32_t channels = min(by.channels - first, 3U);
  const std::uint32_t column_apart = by.channels_last ? by.channels : 1;
  const std::uint32_t channel_apart = by.channels_last ? 1 : by.height * by.width;
  const auto load = [&](std::uint32_t from_y, std::uint32_t from_x, std::uint32_t channel) {
    const std::uint32_t element = (from_y * by.width + from_x) * column_apart;
    return to_float(
        load_element<T>(image.row, element + (first + channel) * channel_apart, by.aligned_loads));
  };
  if (by.augmentation.resizes)
    return resized_color(taps.row(y), taps.column(x), channels,
                         [&](std::uint32_t line, std::uint32_t column, std::uint32_t channel) {
                           return load(image.resized.top + line, image.resized.left + column,
                                       channel);
                         });
  color result{};
  const pixel source = source_pixel(by, image.crop, {first, y, x});
  if (!is_inside(by, source)) return result;
  for (std::uint32_t c = 0; c < 3; ++c)
    if (c < channels) result.of[c] = load(source.y, source.x, c);
  return result;
}

/// The mean grey of a sample's image, by all threads of a block.
template <class T>
__device__ float mean_of_image(const conversion& by, const augmented_image& image,
                               const block_taps& taps, const color_factors& factors,
                               std::uint32_t pixels) {
  __shared__ unsigned long long shares;
  __syncthreads();  // the sample before is done with it
  if (threadIdx.x == 0) shares = 0;
  __syncthreads();
  unsigned long long own = 0;
  for (std::uint32_t at = threadIdx.x; at < pixels; at += block_threads) {
    const std::uint32_t y = by.lines.quotient(at);
    const color colors = moved_color<T>(by, image, taps, y, at - y * by.to_width, 0);
    own += grey_share(colors, factors, by.channels);
  }
  atomicAdd(&shares, own);
  __syncthreads();
  return mean_grey(shares, pixels);
}

/// Resizes or crops samples' images, changes and erases what is to be, into the slot: one block's
/// share of a part. A block takes so many pixels of an image at a time, a thread a pixel of all
/// channels.
template <class T>
__device__ __forceinline__ void augment_samples(const slot_frame& frame, const assembly_part& part,
                                                const conversion& by, std::uint32_t block,
                                                block_taps::memory& shared) {
  const image_augmentation& augmentation = by.augmentation;
  const std::uint32_t pixels = by.to_height * by.to_width;
  for (std::uint64_t each = block; each < part.items; each += part.blocks) {
    const row_item place = split(part, each);
    const std::uint32_t random_bits = random_bits_of_sample(frame, place.row);
    augmented_image image{sample_row(frame, part, place.row, __ldg(frame.sources + place.row)),
                          {},
                          {},
                          is_flipped(by, random_bits)};
    if (augmentation.resizes) {
      image.resized = source_window_of(by, random_bits);
    } else {
      image.crop = window_of(by, random_bits);
    }
    const color_factors factors = color_factors_of(augmentation, random_bits);
    const image_part erased = erased_part_of(by, random_bits);
    const std::uint32_t first = place.item * by.item_pixels;
    const std::uint32_t end = min(first + by.item_pixels, pixels);
    const block_taps taps{shared, by, image, by.lines.quotient(first),
                          by.lines.quotient(end - 1) + 1};
    const float mean = by.needs_mean ? mean_of_image<T>(by, image, taps, factors, pixels) : 0;
    std::byte* const to = slot_row(frame, part, place.row);
    for (std::uint32_t at = first + threadIdx.x; at < end; at += block_threads) {
      const std::uint32_t y = by.lines.quotient(at);
      const std::uint32_t x = at - y * by.to_width;
      const bool is_erased = is_in_part(erased, y, x);
#pragma unroll 1
      for (std::uint32_t some = 0; some < by.channels; some += 3) {
        color colors{};
        if (!is_erased) {
          colors = moved_color<T>(by, image, taps, y, x, some);
          if (augmentation.jitters) jitter(colors, factors, mean, by.channels);
        }
        for (std::uint32_t c = 0; c < 3; ++c) {
          const std::uint32_t channel = some + c;
          if (channel >= by.channels) break;
          const float value = is_erased ? erase_value_of(augmentation, channel) : colors.of[c];
          store_element(to,
                        element_of({channel, y, x}, by.to_channels_last, by.channels, by.to_height,
                                   by.to_width),
                        scaled(by, channel, value), by.to);
        }
      }
    }
  }
}

}  // namespace feedline::detail
