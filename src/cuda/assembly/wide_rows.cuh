#pragma once

#include "cuda/assembly/step_rows.cuh"
#include "transform/operations/wide_pixels.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Shared memory of a block that applies wide steps.
struct wide_step_memory {
  shared_room<drawn_sample> sample;
  shared_room<wide_memory> steps;
};

/// The threads of a block.
struct whole_block {
  [[nodiscard]] __device__ static std::uint32_t rank() { return threadIdx.x; }
  [[nodiscard]] __device__ static std::uint32_t size() { return block_threads; }
  __device__ static void sync() { __syncthreads(); }
  template <class Number>
  __device__ static void add(Number& to, Number value) {
    atomicAdd(&to, value);
  }
};

/// `step_samples` for fields with wide steps.
template <image_kind Kind>
__device__ __forceinline__ void wide_samples(const slot_frame& frame, const augment_part& part,
                                             std::uint32_t block, wide_step_memory& shared) {
  const conversion& by = part.by;
  const operations::parameters& planned = operations::of(part.operations);
  wide_memory& memory = shared.steps.value();
  const drawn_sample& sample = shared.sample.value();
  const whole_block team;
  const pixel_extents image{by.to_height, by.to_width};
#pragma unroll 1
  for (std::uint64_t each = block; each < part.items; each += part.blocks) {
    const row_item place = split(part, each);
    __syncthreads();  // the threads have finished the sample before
    if (threadIdx.x == 0) {
      shared.sample.value() = draw_sample(frame, part, place.row);
      operations::draw_steps(planned, image, random_bits_of_sample(frame, place.row), memory.steps);
    }
    __syncthreads();
    const tile_range tiles = tiles_of_item(by, place.item, memory.steps.needs_image());
    if (tiles.first == tiles.end) continue;
    const step_points<Kind> points = points_of<Kind>(by, sample.image);
    wide_pixels pixels{team, points, memory, image, channels_from<Kind>(by, 0)};
    pixels.look();
#pragma unroll 1
    for (std::uint32_t number = tiles.first; number < tiles.end; ++number) {
      const augment_tile tile = tile_of(by, number);
      pixels.make({tile.top, tile.left, tile.height, tile.width},
                  [&](const pixel_place& at, const color& pixel, std::uint32_t channels) {
                    store_stepped(by, planned, sample, memory.steps, at, pixel, channels);
                  });
    }
  }
}

}  // namespace feedline::detail
