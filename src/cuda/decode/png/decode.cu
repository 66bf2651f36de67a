#include "codecs/inflate/inflate.hpp"
#include "codecs/png/checksum.hpp"
#include "codecs/png/frame.hpp"
#include "codecs/png/rows.hpp"
#include "cuda/decode/png/kernels.hpp"
#include "cuda/kernel/block_warp.cuh"
#include "cuda/kernel/checksums.cuh"
#include "cuda/kernel/launch.cuh"
#include "cuda/kernel/warp.cuh"
#include "cuda/load_kernels.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {
namespace {

constexpr std::uint32_t zlib_header_bytes = 2;
constexpr std::uint32_t checksum_bytes = 4;

/// Results of a kernel for the kernels after it.
struct png_found {
  png_frame frame;
  std::uint32_t checksum;  ///< Adler-32 that the zlib stream states
  bool has_surplus;        ///< more was inflated than the rows take: then it has no meaning
  bool good;
};
static_assert(sizeof(png_found) <= jpeg_header_bytes);

/// A PNG's memory.
struct png_memory {
  png_found* found;
  std::uint8_t* pixels;
  std::uint8_t* rows;
  std::uint8_t* data;

  __device__ png_memory(const jpeg_batch& batch, const jpeg_image& image)
      : found{reinterpret_cast<png_found*>(batch.memory + image.pixels_at - jpeg_header_bytes)},
        pixels{reinterpret_cast<std::uint8_t*>(batch.memory + image.pixels_at)},
        rows{pixels + png_rows_behind(image)},
        data{pixels + png_data_behind(image)} {}

  /// Called by one thread.
  __device__ void refuse(const jpeg_batch& batch, const jpeg_image& image) const {
    found->good = false;
    batch.bad[image.number] = 1;
  }
};

/// A thread block reads a file's header, compares the checksums of the chunks that count, and joins
/// the compressed data.
__global__ void __launch_bounds__(decode_threads)
    png_data_kernel(const __grid_constant__ jpeg_batch batch) {
  const jpeg_image& image = batch.images[blockIdx.x];
  const png_memory memory{batch, image};
  bool good = true;
  if (threadIdx.x == 0) {
    png_frame& frame = memory.found->frame;
    good = read_png_frame(image.file, image.bytes, frame) && frame.height == image.extents.height &&
           frame.width == image.extents.width && frame.pixel_bits() <= max_png_pixel_bits(image) &&
           (!image.is_mask || frame.has_indices());
  }
  good = __syncthreads_and(static_cast<int>(good)) != 0;
  std::uint8_t* to = memory.data;
  png_chunk chunk{};
  for (std::uint32_t at = png_chunks_at; good && chunk.name != png_chunk::iend; at = chunk.end()) {
    if (!read_png_chunk(image.file, image.bytes, at, chunk)) good = false;
    if (!good || !chunk.is_critical()) continue;
    const std::uint8_t* const from = image.file + chunk.at;
    const std::uint32_t checksum =
        xor_of_threads(crc_part(from - 4, chunk.bytes + 4, threadIdx.x, decode_threads));
    if (~checksum != png_number(from + chunk.bytes)) good = false;
    if (chunk.name != png_chunk::idat) continue;
    for (std::uint32_t i = threadIdx.x; i < chunk.bytes; i += decode_threads) to[i] = from[i];
    to += chunk.bytes;
  }
  if (threadIdx.x != 0) return;
  memory.found->good = true;
  if (!good) memory.refuse(batch, image);
}

/// A warp inflates an image's rows.
__global__ void __launch_bounds__(warp_team::width)
    png_inflate_kernel(const __grid_constant__ jpeg_batch batch) {
  __shared__ inflate_tables tables;
  const jpeg_image& image = batch.images[blockIdx.x];
  const png_memory memory{batch, image};
  if (!memory.found->good) return;
  const auto* const from = reinterpret_cast<const std::byte*>(memory.data) + zlib_header_bytes;
  const std::uint32_t bytes = memory.found->frame.data_bytes - zlib_header_bytes;
  inflater<warp_team, block_warp> inflater{
      from, bytes, reinterpret_cast<std::byte*>(memory.rows),
      static_cast<std::uint32_t>(memory.found->frame.filtered_bytes()), tables};
  const inflated result = inflater.run();
  __syncwarp();
  if (warp_team::lane() != 0) return;
  if (!result.good || bytes - result.bytes < checksum_bytes) return memory.refuse(batch, image);
  memory.found->has_surplus = result.has_surplus;
  memory.found->checksum = png_number(memory.data + zlib_header_bytes + result.bytes);
}

__global__ void __launch_bounds__(decode_threads)
    png_check_kernel(const __grid_constant__ jpeg_batch batch) {
  const jpeg_image& image = batch.images[blockIdx.x];
  const png_memory memory{batch, image};
  if (!memory.found->good || memory.found->has_surplus) return;
  const std::uint32_t checksum =
      adler32(reinterpret_cast<const std::byte*>(memory.rows),
              static_cast<std::uint32_t>(memory.found->frame.filtered_bytes()));
  if (threadIdx.x == 0 && checksum != memory.found->checksum) memory.refuse(batch, image);
}

/// A warp makes an image's pixels: the rows down to those that its row is made from.
__global__ void __launch_bounds__(block_warp::lanes)
    png_rows_kernel(const __grid_constant__ jpeg_batch batch) {
  const jpeg_image& image = batch.images[blockIdx.x];
  const png_memory memory{batch, image};
  if (!memory.found->good) return;
  const png_frame frame = memory.found->frame;
  const std::uint32_t end = image.window.height != 0
                                ? std::uint32_t{image.window.top} + image.window.height
                                : frame.height;
  block_warp warp;
  const png_values wanted{
      .is_grey = image.is_grey, .is_wide = image.is_wide, .is_index = image.is_mask};
  const bool good = make_png_rows(warp, frame, png_colours{image.file, frame, wanted}, memory.rows,
                                  memory.pixels, jpeg_row_bytes(frame.width), end);
  if (threadIdx.x == 0 && !good) memory.refuse(batch, image);
}

}  // namespace

void load_png_kernels() {
  load_kernels(png_data_kernel, png_inflate_kernel, png_check_kernel, png_rows_kernel);
}

void issue_png(const jpeg_batch& batch, cudaStream_t stream) {
  launch(png_data_kernel, batch.count, decode_threads, stream, jpeg_batch{batch});
  launch(png_inflate_kernel, batch.count, warp_team::width, stream, jpeg_batch{batch});
  launch(png_check_kernel, batch.count, decode_threads, stream, jpeg_batch{batch});
  launch(png_rows_kernel, batch.count, block_warp::lanes, stream, jpeg_batch{batch});
}

}  // namespace feedline::detail
