#pragma once

#include "cuda/assembly/augment_rows.cuh"
#include "device/window_points.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Shared memory of a block that applies steps.
struct step_memory {
  shared_room<drawn_sample> sample;
  shared_room<sample_steps> steps;
  resized_tile_memory tile;
  unsigned long long shares;     ///< a sum over the image
  std::uint32_t counts[3][256];  ///< each channel's counts of bytes
};

/// Loads single elements of an image of bytes.
template <image_kind Kind>
struct point_loader {
  source_elements<std::uint8_t, Kind> elements;

  __device__ float operator()(std::uint32_t y, std::uint32_t x, std::uint32_t channel) const {
    return elements.load(elements.at(y, x), channel);
  }
};

template <image_kind Kind>
using step_points = window_points<point_loader<Kind>>;

/// The points of a sample's window.
template <image_kind Kind>
__device__ __forceinline__ step_points<Kind> points_of(const conversion& by,
                                                       const augmented_image& image) {
  return {by,
          image.crop,
          image.resized,
          image.flipped,
          channels_from<Kind>(by, 0),
          point_loader<Kind>{source_elements<std::uint8_t, Kind>{by, image.row, 0}}};
}

/// Stores a pixel after its last step.
__device__ __forceinline__ void store_stepped(const conversion& by,
                                              const operations::parameters& planned,
                                              const drawn_sample& sample, const sample_steps& steps,
                                              const pixel_place& at, color pixel,
                                              std::uint32_t channels) {
  steps.add_noise(at, by.to_width, channels, pixel);
  operations::apply(planned, sample.drawn, at, pixel, channels);
  const std::uint32_t column_apart = by.to_channels_last ? by.to_channels : 1;
  const std::uint32_t channel_apart = by.to_channels_last ? 1 : by.to_height * by.to_width;
  const std::uint32_t element = (at.y * by.to_width + at.x) * column_apart;
  for (std::uint32_t c = 0; c < 3; ++c) {
    if (c >= channels) break;
    store_element(sample.to, element + c * channel_apart, scaled(by, c, pixel.of[c]), by.to);
  }
}

/// Makes one sample's pixels, by all threads of a block.
template <image_kind Kind>
class step_sample {
 public:
  __device__ step_sample(step_memory& shared, const conversion& by,
                         const operations::parameters& planned)
      : shared_{shared},
        by_{by},
        planned_{planned},
        steps_{shared.steps.value()},
        sample_{shared.sample.value()} {}

  /// Gives each step what it needs of the image as the steps before it leave it, and then stores
  /// the tiles of an item.
  __device__ void make(std::uint32_t item) {
    const tile_range tiles = tiles_of_item(by_, item, steps_.needs_image());
    if (tiles.first == tiles.end) return;
    const std::uint32_t count = steps_.colors.count;
    std::uint32_t step = steps_.colors.next_of_image(0);
#pragma unroll 1
    while (true) {
      if (step < count) {
        for (std::uint32_t i = threadIdx.x; i < 3 * 256; i += block_threads)
          shared_.counts[i / 256][i % 256] = 0;
        if (threadIdx.x == 0) shared_.shares = 0;
        __syncthreads();
      }
      shares_ = 0;
#pragma unroll 1
      for (std::uint32_t tile = tiles.first; tile < tiles.end; ++tile) make_tile(tile, step);
      if (step == count) return;
      settle(step);
      step = steps_.colors.next_of_image(step + 1);
    }
  }

 private:
  /// Makes a tile's pixels with the steps before `end`, and looks at them or stores them.
  __device__ __forceinline__ void make_tile(std::uint32_t number, std::uint32_t end) {
    const augment_tile tile = tile_of(by_, number);
    const pixel_extents image{by_.to_height, by_.to_width};
    if (!steps_.needs_points()) {
      for_moved_pixels<std::uint8_t, Kind>(
          shared_.tile, by_, sample_.image, tile,
          [&](std::uint32_t row, std::uint32_t, color pixel) {
            std::uint32_t channels = channels_from<Kind>(by_, 0);
            steps_.colors.apply(0, end, pixel, channels);
            take({tile.top + row, tile.left + tile_column(), 0}, pixel, channels, end);
          });
      return;
    }
    if (tile_column() >= tile.width) return;
    const step_points<Kind> points = points_of<Kind>(by_, sample_.image);
#pragma unroll 1
    for (std::uint32_t row = tile_row(); row < tile.height; row += block_warps) {
      std::uint32_t channels = channels_from<Kind>(by_, 0);
      const pixel_place at{tile.top + row, tile.left + tile_column(), 0};
      take(at, sample_point(steps_, points, image, end, at.y, at.x, channels), channels, end);
    }
  }

  __device__ __forceinline__ void take(const pixel_place& at, color pixel, std::uint32_t channels,
                                       std::uint32_t end) {
    if (end < steps_.colors.count) {
      const color_step& step = steps_.colors.at[end];
      if (!step.needs_counts()) {
        shares_ += grey_share(step, pixel, channels);
        return;
      }
      for (std::uint32_t c = 0; c < 3; ++c)
        if (c < channels) atomicAdd(&shared_.counts[c][byte_of(pixel.of[c])], 1U);
      return;
    }
    store_stepped(by_, planned_, sample_, steps_, at, pixel, channels);
  }

  __device__ void settle(std::uint32_t step) {
    const std::uint32_t pixels = by_.to_height * by_.to_width;
    if (steps_.colors.at[step].needs_counts()) {
      __syncthreads();
      // All channels that an image can have: a thread may have seen none of its pixels.
      if (threadIdx.x < 3)
        steps_.colors.set_table(step, threadIdx.x, shared_.counts[threadIdx.x], pixels);
    } else {
      atomicAdd(&shared_.shares, shares_);
      __syncthreads();
      if (threadIdx.x == 0) steps_.colors.set_sum(step, shared_.shares, pixels);
    }
    __syncthreads();
  }

  step_memory& shared_;
  const conversion& by_;
  const operations::parameters& planned_;
  sample_steps& steps_;
  const drawn_sample& sample_;
  unsigned long long shares_ = 0;
};

/// `augment_samples` for fields with steps, which are bytes of one channel or three.
template <image_kind Kind>
__device__ __forceinline__ void step_samples(const slot_frame& frame, const augment_part& part,
                                             std::uint32_t block, step_memory& shared) {
  const operations::parameters& planned = operations::of(part.operations);
  for (std::uint64_t each = block; each < part.items; each += part.blocks) {
    const row_item place = split(part, each);
    __syncthreads();  // the threads have finished the sample before
    if (threadIdx.x == 0) {
      shared.sample.value() = draw_sample(frame, part, place.row);
      operations::draw_steps(planned, {part.by.to_height, part.by.to_width},
                             random_bits_of_sample(frame, place.row), shared.steps.value());
    }
    __syncthreads();
    step_sample<Kind>{shared, part.by, planned}.make(place.item);
  }
}

}  // namespace feedline::detail
