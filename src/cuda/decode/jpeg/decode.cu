#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/idct.hpp"
#include "codecs/jpeg/needed_blocks.hpp"
#include "codecs/jpeg/pixels.hpp"
#include "cuda/decode/jpeg/image_memory.cuh"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/kernel/launch.cuh"
#include "cuda/kernel/warp.cuh"
#include "cuda/load_kernels.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr std::uint32_t threads = 256;
/// Thread blocks that share an image's blocks or rows.
constexpr std::uint32_t shares = 16;

/// Some of a batch's images, as many as fit into a kernel's parameters.
struct given_images {
  jpeg_image image[max_given_images];
};
static_assert(sizeof(given_images) + sizeof(std::uint64_t) + sizeof(jpeg_image*) <= 4096);

__global__ void __launch_bounds__(max_given_images)
    table_kernel(const __grid_constant__ given_images given, std::uint32_t count,
                 jpeg_image* table) {
  if (threadIdx.x < count) table[threadIdx.x] = given.image[threadIdx.x];
}

/// The positions at which a thread of a block stores the coefficients that it reads.
__constant__ constexpr std::uint64_t eight_places[8] = {
    jpeg_places(0),  jpeg_places(8),  jpeg_places(16), jpeg_places(24),
    jpeg_places(32), jpeg_places(40), jpeg_places(48), jpeg_places(56)};

/// The part of an image that its row is made from: no other pixels are made.
__device__ image_box wanted_part(const jpeg_image& image) {
  if (image.window.height != 0) return box_of(image.window);
  return {0, 0, image.extents};
}

/// Eight threads make a block: each reads eight coefficients and stores them at their positions,
/// then transforms a column, then a row.
__global__ void __launch_bounds__(threads, 5)
    sample_kernel(const __grid_constant__ jpeg_batch batch) {
  // A block's coefficients, then its columns. The 9 keeps two threads from using one bank.
  alignas(uint4) __shared__ std::int32_t columns[threads / 8][8][9];
  const image_memory memory{batch, batch.images[blockIdx.y]};
  const jpeg_frame frame = memory.header->frame;
  if (frame.components == 0) return;
  constexpr std::uint32_t warp_blocks = warp_team::width / 8;
  constexpr std::uint32_t apart = shares * (threads / 8);
  const std::uint32_t mine = threadIdx.x / 8;
  const std::uint32_t line = threadIdx.x % 8;
  const std::uint64_t places = eight_places[line];
  auto* const coefficients = reinterpret_cast<std::int16_t*>(columns[mine]);
  const std::uint32_t first = blockIdx.x * (threads / 8) + mine;
  const image_box part = wanted_part(batch.images[blockIdx.y]);
  jpeg_block_steps at{
      frame, needed_jpeg_mcus(frame, part.top, part.left, part.extents.height, part.extents.width),
      first, apart};
  const std::uint32_t count = at.count();
  for (std::uint32_t number = first; number - mine % warp_blocks < count;
       number += apart, at.next()) {
    std::int16_t* const block = memory.blocks + std::size_t{at.block()} * jpeg_block_samples;
    bool is_flat = true;
    if (number < count) {
      const uint4 read = reinterpret_cast<const uint4*>(block)[line];
      const uint2 factors = reinterpret_cast<const uint2*>(
          memory.header->factors.of[frame.component(at.unit())])[line];
      is_flat = place_jpeg_products({{read.x, read.y, read.z, read.w}, {factors.x, factors.y}},
                                    places, coefficients);
    }
    __syncwarp();
    const std::uint32_t others = __ballot_sync(0xFFFFFFFF, !is_flat);
    is_flat = (others >> mine % warp_blocks * 8 & 255U) == 0;
    jpeg_idct_line column;
    if (number < count) {
      const uint4 own = reinterpret_cast<const uint4*>(coefficients)[line];
      const std::uint32_t pairs[4] = {own.x, own.y, own.z, own.w};
      for (std::uint32_t y = 0; y < 8; ++y)
        column.value[y] = static_cast<std::int16_t>(pairs[y / 2] >> y % 2 * 16);
      jpeg_idct_column(column, is_flat);
    }
    __syncwarp();  // all coefficients of a warp are read before columns overwrite them
    if (number < count)
      for (std::uint32_t y = 0; y < 8; ++y) columns[mine][line][y] = column.value[y];
    __syncwarp();
    if (number < count) {
      jpeg_idct_line row;
      for (std::uint32_t x = 0; x < 8; ++x) row.value[x] = columns[mine][x][line];
      jpeg_idct_row(row);
      std::uint32_t words[2] = {};
      for (std::uint32_t x = 0; x < 8; ++x)
        words[x / 4] |= static_cast<std::uint32_t>(row.value[x]) << x % 4 * 8;
      reinterpret_cast<uint2*>(block)[line] = {words[0], words[1]};
    }
    __syncwarp();
  }
}

/// A thread block makes tiles of an image. It first arranges chroma in rows, because a pixel's
/// chroma neighbors may be in other blocks; each thread then makes a square of pixels.
__global__ void __launch_bounds__(threads, 6)
    pixel_kernel(const __grid_constant__ jpeg_batch batch) {
  using tile = jpeg_chroma_tile;
  constexpr std::uint32_t squares = tile::width / jpeg_pixels::square;
  static_assert(squares * tile::height / jpeg_pixels::square == threads);
  __shared__ tile chroma;
  const image_memory memory{batch, batch.images[blockIdx.y]};
  const jpeg_frame frame = memory.header->frame;
  if (frame.components == 0) return;
  const jpeg_pixels pixels{reinterpret_cast<const std::uint8_t*>(memory.blocks), frame,
                           batch.images[blockIdx.y].is_grey};
  const image_box part = wanted_part(batch.images[blockIdx.y]);
  const std::uint32_t bottom = part.top + part.extents.height;
  const std::uint32_t right = part.left + part.extents.width;
  const std::uint32_t first_down = part.top / tile::height;
  const std::uint32_t first_across = part.left / tile::width;
  const std::uint32_t across = (right - 1) / tile::width + 1 - first_across;
  const std::uint32_t tiles = ((bottom - 1) / tile::height + 1 - first_down) * across;
  for (std::uint32_t number = blockIdx.x; number < tiles; number += shares) {
    const std::uint32_t top = (first_down + number / across) * tile::height;
    const std::uint32_t left = (first_across + number % across) * tile::width;
    pixels.fill(chroma, top, left, threadIdx.x, threads);
    __syncthreads();
    const std::uint32_t y = top + threadIdx.x / squares * jpeg_pixels::square;
    const std::uint32_t x = left + threadIdx.x % squares * jpeg_pixels::square;
    // Whole groups of eight columns are made: `resize_kernel` sums up such groups.
    if (y + jpeg_pixels::square > part.top && y < bottom && x >= part.left / 8 * 8 &&
        x < (right + 7) / 8 * 8)
      pixels.make(chroma, y, x, memory.pixels);
    __syncthreads();
  }
}

void launch_shared(void (*kernel)(jpeg_batch), const jpeg_batch& batch, cudaStream_t stream) {
  jpeg_batch given = batch;
  void* parameters[] = {&given};
  FEEDLINE_CUDA_CHECK(
      cudaLaunchKernel(kernel, dim3{shares, batch.count}, dim3{threads}, parameters, 0, stream));
}

}  // namespace

void load_pixel_kernels() {
  load_kernels(table_kernel, sample_kernel, pixel_kernel);
}

void issue_table(std::span<const jpeg_image> images, jpeg_image* table, cudaStream_t stream) {
  for (std::size_t first = 0; first < images.size(); first += max_given_images) {
    const auto part = images.subspan(first, std::min(images.size() - first, max_given_images));
    given_images given;
    std::ranges::copy(part, given.image);
    launch(table_kernel, 1, max_given_images, stream, given_images{given},
           static_cast<std::uint32_t>(part.size()), table + first);
  }
}

void issue_samples(const jpeg_batch& batch, cudaStream_t stream) {
  launch_shared(sample_kernel, batch, stream);
}

void issue_pixels(const jpeg_batch& batch, cudaStream_t stream) {
  launch_shared(pixel_kernel, batch, stream);
}

}  // namespace feedline::detail
