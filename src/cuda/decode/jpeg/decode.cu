#include "cuda/decode/jpeg/image_memory.cuh"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/kernel/launch.cuh"
#include "cuda/kernel/warp.cuh"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/idct.hpp"
#include "image/jpeg/pixels.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr std::uint32_t threads = 256;
/// Thread blocks that share an image's blocks or rows.
constexpr std::uint32_t shares = 32;

/// A part of a batch's images, as a kernel's parameters have room for it.
struct given_images {
  jpeg_image image[max_given_images];
};

__global__ void __launch_bounds__(max_given_images)
    table_kernel(const __grid_constant__ given_images given, std::uint32_t count,
                 jpeg_image* table) {
  if (threadIdx.x < count) table[threadIdx.x] = given.image[threadIdx.x];
}

/// Eight threads make a block: each a column, then a row.
__global__ void __launch_bounds__(threads) sample_kernel(const __grid_constant__ jpeg_batch batch) {
  constexpr std::uint32_t warp_blocks = warp_team::width / 8;
  __shared__ std::int32_t columns[threads / 8][8][9];  // 9: no two threads use one bank
  const image_memory memory{batch, batch.images[blockIdx.y]};
  const std::uint32_t count = memory.header->frame.components == 0
                                  ? 0
                                  : memory.header->frame.mcus() * memory.header->frame.blocks();
  const std::uint32_t mine = threadIdx.x / 8;
  const std::uint32_t line = threadIdx.x % 8;
  const std::uint32_t first = blockIdx.x * (threads / 8) + mine / warp_blocks * warp_blocks;
  for (std::uint32_t begin = first; begin < count; begin += shares * (threads / 8)) {
    const std::uint32_t number = begin + mine % warp_blocks;
    std::int16_t* const block = memory.blocks + std::size_t{number} * jpeg_block_samples;
    if (number < count) {
      jpeg_idct_line column;
      for (std::uint32_t y = 0; y < 8; ++y) column.value[y] = block[y * 8 + line];
      jpeg_idct_column(column);
      for (std::uint32_t y = 0; y < 8; ++y) columns[mine][line][y] = column.value[y];
    }
    __syncwarp();  // a warp's blocks are all read before one is written, and the columns there
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

/// A thread block makes tiles of an image. Chroma is laid into rows first, for its neighbours are
/// read across blocks; each thread then makes a square of pixels.
__global__ void __launch_bounds__(threads) pixel_kernel(const __grid_constant__ jpeg_batch batch) {
  using tile = jpeg_chroma_tile;
  constexpr std::uint32_t squares = tile::width / jpeg_pixels::square;
  static_assert(squares * tile::height / jpeg_pixels::square == threads);
  __shared__ tile chroma;
  const image_memory memory{batch, batch.images[blockIdx.y]};
  const jpeg_frame frame = memory.header->frame;
  if (frame.components == 0) return;
  const jpeg_pixels pixels{reinterpret_cast<const std::uint8_t*>(memory.blocks), frame};
  const std::uint32_t across = (frame.width + tile::width - 1) / tile::width;
  const std::uint32_t tiles = (frame.height + tile::height - 1) / tile::height * across;
  for (std::uint32_t number = blockIdx.x; number < tiles; number += shares) {
    const std::uint32_t top = number / across * tile::height;
    const std::uint32_t left = number % across * tile::width;
    pixels.fill(chroma, top, left, threadIdx.x, threads);
    __syncthreads();
    const std::uint32_t y = top + threadIdx.x / squares * jpeg_pixels::square;
    const std::uint32_t x = left + threadIdx.x % squares * jpeg_pixels::square;
    if (y < frame.height && x < (frame.width + 7U) / 8 * 8)
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
