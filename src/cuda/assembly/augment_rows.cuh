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

/// Which elements make up a pixel.
struct augmented_pixel {
  resize_taps rows;
  resize_taps columns;
  pixel source;  ///< unless it is resized; its channel does not count
};

/// @param x Of the batch's image.
__device__ __forceinline__ augmented_pixel augmented_at(const conversion& by,
                                                        const augmented_image& image,
                                                        std::uint32_t y, std::uint32_t x) {
  if (!by.augmentation.resizes) return {{}, {}, source_pixel(by, image.crop, {0, y, x})};
  const std::uint32_t column = image.flipped ? by.to_width - 1 - x : x;
  return {taps_of(y, image.resized.height, by.to_height),
          taps_of(column, image.resized.width, by.to_width),
          {}};
}

/// A channel of a pixel, resized or cropped.
template <class T>
__device__ __forceinline__ float moved_value(const conversion& by, const augmented_image& image,
                                             const augmented_pixel& at, std::uint32_t channel) {
  const auto load = [&](std::uint32_t y, std::uint32_t x) {
    return to_float(load_element<T>(
        image.row, element_of({channel, y, x}, by.channels_last, by.channels, by.height, by.width),
        by.aligned_loads));
  };
  if (!by.augmentation.resizes)
    return is_inside(by, at.source) ? load(at.source.y, at.source.x) : 0.0F;
  return resized_value(at.rows, at.columns, [&](std::uint32_t line, std::uint32_t column) {
    return load(image.resized.top + line, image.resized.left + column);
  });
}

template <class T>
__device__ __forceinline__ color moved_color(const conversion& by, const augmented_image& image,
                                             const augmented_pixel& at) {
  color result{};
#pragma unroll 1
  for (std::uint32_t channel = 0; channel < by.channels; ++channel) {
    const float value = moved_value<T>(by, image, at, channel);
    if (channel == 0) result.of[0] = value;  // in registers: no index that is not known
    if (channel == 1) result.of[1] = value;
    if (channel == 2) result.of[2] = value;
  }
  return result;
}

/// The mean grey of a sample's image, by all threads of a block.
template <class T>
__device__ float mean_of_image(const conversion& by, const augmented_image& image,
                               const color_factors& factors, std::uint32_t pixels) {
  __shared__ unsigned long long shares;
  __syncthreads();  // the sample before is done with it
  if (threadIdx.x == 0) shares = 0;
  __syncthreads();
  unsigned long long own = 0;
  for (std::uint32_t at = threadIdx.x; at < pixels; at += block_threads) {
    const std::uint32_t y = by.lines.quotient(at);
    const augmented_pixel place = augmented_at(by, image, y, at - y * by.to_width);
    own += grey_share(moved_color<T>(by, image, place), factors, by.channels);
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
                                                const conversion& by, std::uint32_t block) {
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
    const float mean = by.needs_mean ? mean_of_image<T>(by, image, factors, pixels) : 0;
    std::byte* const to = slot_row(frame, part, place.row);
    const std::uint32_t first = place.item * by.item_pixels;
    const std::uint32_t end = min(first + by.item_pixels, pixels);
    for (std::uint32_t at = first + threadIdx.x; at < end; at += block_threads) {
      const std::uint32_t y = by.lines.quotient(at);
      const std::uint32_t x = at - y * by.to_width;
      const augmented_pixel from = augmented_at(by, image, y, x);
      const bool is_erased = is_in_part(erased, y, x);
      color colors{};
      if (augmentation.jitters && !is_erased) {
        colors = moved_color<T>(by, image, from);
        jitter(colors, factors, mean, by.channels);
      }
#pragma unroll 1
      for (std::uint32_t channel = 0; channel < by.channels; ++channel) {
        float value = 0.0F;
        if (is_erased) {
          value = erase_value_of(augmentation, channel);
        } else if (augmentation.jitters) {
          value = channel == 0 ? colors.of[0] : channel == 1 ? colors.of[1] : colors.of[2];
        } else {
          value = moved_value<T>(by, image, from, channel);
        }
        const pixel target{channel, y, x};
        store_element(
            to, element_of(target, by.to_channels_last, by.channels, by.to_height, by.to_width),
            scaled(by, channel, value), by.to);
      }
    }
  }
}

}  // namespace feedline::detail
