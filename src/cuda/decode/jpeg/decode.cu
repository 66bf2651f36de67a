#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/kernel/block_warp.cuh"
#include "cuda/kernel/launch.cuh"
#include "image/jpeg/coefficients.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/idct.hpp"
#include "image/jpeg/pixels.hpp"
#include "image/jpeg/scan_segments.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

static_assert(sizeof(jpeg_frame) <= jpeg_frame_bytes);

constexpr std::uint32_t threads = 256;
/// Thread blocks that share an image's blocks or rows.
constexpr std::uint32_t shares = 32;

/// An image's memory.
struct image_memory {
  jpeg_frame* frame;
  std::uint8_t* pixels;
  std::int16_t* blocks;

  __device__ image_memory(const jpeg_batch& batch, const jpeg_image& image)
      : frame{reinterpret_cast<jpeg_frame*>(batch.memory + image.pixels_at - jpeg_frame_bytes)},
        pixels{reinterpret_cast<std::uint8_t*>(batch.memory + image.pixels_at)},
        blocks{reinterpret_cast<std::int16_t*>(pixels + jpeg_blocks_behind(image.extents))} {}
};

/// A part of a batch's images, as a kernel's parameters have room for it.
struct given_images {
  jpeg_image image[max_given_images];
};

__global__ void __launch_bounds__(max_given_images)
    table_kernel(const __grid_constant__ given_images given, std::uint32_t count,
                 jpeg_image* table) {
  if (threadIdx.x < count) table[threadIdx.x] = given.image[threadIdx.x];
}

/// Whether a file has this image, and a place for its blocks.
__device__ bool read_header(const jpeg_image& image, jpeg_frame& frame) {
  return read_jpeg_frame(image.file, image.bytes, frame) && frame.height == image.extents.height &&
         frame.width == image.extents.width && frame.components == 3;
}

/// A warp decodes a file. A batch has few of them for so many SMs: registers are not scarce.
__global__ void __launch_bounds__(block_warp::lanes, 16)
    scan_kernel(const __grid_constant__ jpeg_batch batch) {
  __shared__ jpeg_scan_tables tables;
  __shared__ jpeg_frame frame;
  __shared__ jpeg_factors factors;
  const jpeg_image& image = batch.images[blockIdx.x];
  const image_memory memory{batch, image};
  block_warp warp;
  const bool is_read = warp.once([&] {
    if (!read_header(image, frame)) return false;
    build(factors, image.file, frame);
    return true;
  });
  if (!is_read) {
    if (threadIdx.x == 0) {
      *memory.frame = {};
      batch.bad[image.number] = 1;
    }
    return;
  }
  const std::uint32_t count = frame.mcus() * frame.blocks();
  auto* const words = reinterpret_cast<uint4*>(memory.blocks);
  constexpr std::uint32_t block_words = jpeg_pixels::block_stride / sizeof(uint4);
  for (std::uint32_t i = threadIdx.x; i < count * block_words; i += block_warp::lanes)
    words[i] = {};
  warp.sync();
  const jpeg_coefficient_writer writer{factors, memory.blocks, count};
  const jpeg_scan scan{image.file, image.bytes, frame, tables};
  const bool is_whole = jpeg_scan_segments{warp, scan, writer}.is_whole();
  if (threadIdx.x != 0) return;
  *memory.frame = frame;
  if (!is_whole && !batch.allow_damaged) batch.bad[image.number] = 1;
}

/// Eight threads make a block: each a column, then a row.
__global__ void __launch_bounds__(threads) sample_kernel(const __grid_constant__ jpeg_batch batch) {
  constexpr std::uint32_t warp_blocks = block_warp::lanes / 8;
  __shared__ std::int32_t columns[threads / 8][8][9];  // 9: no two threads use one bank
  const image_memory memory{batch, batch.images[blockIdx.y]};
  const std::uint32_t count =
      memory.frame->components == 0 ? 0 : memory.frame->mcus() * memory.frame->blocks();
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

/// A thread block makes whole rows.
__global__ void __launch_bounds__(threads) pixel_kernel(const __grid_constant__ jpeg_batch batch) {
  const image_memory memory{batch, batch.images[blockIdx.y]};
  const jpeg_frame frame = *memory.frame;
  if (frame.components == 0) return;
  const jpeg_pixels made{reinterpret_cast<const std::uint8_t*>(memory.blocks), frame};
  for (std::uint32_t y = blockIdx.x; y < frame.height; y += shares)
    for (std::uint32_t x = threadIdx.x; x < frame.width; x += threads)
      made.read(y, x, memory.pixels + (std::size_t{y} * frame.width + x) * 3);
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

void issue_scans(const jpeg_batch& batch, cudaStream_t stream) {
  launch(scan_kernel, batch.count, block_warp::lanes, stream, jpeg_batch{batch});
}

void issue_samples(const jpeg_batch& batch, cudaStream_t stream) {
  launch_shared(sample_kernel, batch, stream);
}

void issue_pixels(const jpeg_batch& batch, cudaStream_t stream) {
  launch_shared(pixel_kernel, batch, stream);
}

}  // namespace feedline::detail
