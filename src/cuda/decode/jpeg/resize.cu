#include "cuda/check.hpp"
#include "cuda/decode/jpeg/kernels.hpp"
#include "image/resample_taps.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

// A thread block makes a tile of a row, each thread a pixel.
constexpr std::uint32_t tile_width = 32;
constexpr std::uint32_t tile_height = 8;
constexpr std::uint32_t tile_threads = tile_width * tile_height;
/// Weights of a longer triangle are not kept, but worked out where they are needed.
constexpr std::uint32_t max_kept_taps = 256;

__host__ __device__ constexpr std::uint32_t tiles_of(std::uint32_t side, std::uint32_t tile) {
  return side / tile + (side % tile != 0 ? 1 : 0);
}

/// What one kernel resizes.
struct resized_images {
  const std::uint8_t* pixels = nullptr;
  image_row row;
  jpeg_image image[max_given_images];
};

/// Writes the weights of some elements of an axis, one element's after the other's.
__device__ void keep_weights(std::int16_t* weights, std::uint32_t from, std::uint32_t to,
                             std::uint32_t begin, std::uint32_t count) {
  const std::uint32_t taps = resample_taps::count_of(from, to);
  if (taps > max_kept_taps) return;
  for (std::uint32_t i = threadIdx.x; i < count * taps; i += tile_threads)
    weights[i] = resample_taps{from, to, begin + i / taps}.weight(i % taps);
}

/// An element's weights: kept ones if there are not too many.
class kept_weights {
 public:
  __device__ kept_weights(const resample_taps& taps, const std::int16_t* kept)
      : taps_{taps}, kept_{taps.count() <= max_kept_taps ? kept : nullptr} {}

  __device__ std::int32_t operator()(std::uint32_t tap) const {
    return kept_ != nullptr ? kept_[tap] : taps_.weight(tap);
  }

 private:
  const resample_taps& taps_;
  const std::int16_t* kept_;
};

__global__ void __launch_bounds__(tile_threads)
    resize_kernel(const __grid_constant__ resized_images batch, std::uint32_t tiles) {
  __shared__ std::int16_t row_weights[tile_height * max_kept_taps];
  __shared__ std::int16_t column_weights[tile_width * max_kept_taps];
  const image_row& row = batch.row;
  const std::uint32_t number = blockIdx.x / tiles;
  const std::uint32_t tile = blockIdx.x - number * tiles;
  const std::uint32_t across = tiles_of(row.width, tile_width);
  const std::uint32_t top = tile / across * tile_height;
  const std::uint32_t left = tile % across * tile_width;
  const jpeg_image& image = batch.image[number];
  const image_extents from = image.extents;
  const image_extents wanted{row.height, row.width};
  const resample_window window =
      middle_window(resized_extents(from, wanted, row.shorter_side), wanted);
  const image_extents to = window.resized;

  keep_weights(row_weights, from.height, to.height, window.top + top,
               min(tile_height, row.height - top));
  keep_weights(column_weights, from.width, to.width, window.left + left,
               min(tile_width, row.width - left));
  __syncthreads();

  const std::uint32_t tile_y = threadIdx.x / tile_width;
  const std::uint32_t tile_x = threadIdx.x % tile_width;
  const std::uint32_t y = top + tile_y;
  const std::uint32_t x = left + tile_x;
  if (y >= row.height || x >= row.width) return;
  const resample_taps rows{from.height, to.height, window.top + y};
  const resample_taps columns{from.width, to.width, window.left + x};
  const std::size_t row_bytes = std::size_t{3} * from.width;
  std::uint8_t pixel[3];
  resample_pixel(
      {batch.pixels + image.pixels_at + rows.first() * row_bytes + std::size_t{3} * columns.first(),
       row_bytes, rows.count(), columns.count()},
      kept_weights{rows, row_weights + tile_y * rows.count()},
      kept_weights{columns, column_weights + tile_x * columns.count()}, pixel);

  const bool in_planes = row.layout == image_layout::chw;
  const std::size_t at = std::size_t{y} * row.width + x;
  const std::size_t pixel_stride = in_planes ? 1 : 3;
  const std::size_t channel_stride = in_planes ? wanted.pixels() : 1;
  for (std::uint32_t channel = 0; channel < 3; ++channel)
    image.row[at * pixel_stride + channel * channel_stride] =
        static_cast<std::byte>(pixel[channel]);
}

}  // namespace

void issue_resizes(std::span<const jpeg_image> images, const image_row& row,
                   const std::uint8_t* pixels, cudaStream_t stream) {
  std::uint32_t tiles = tiles_of(row.width, tile_width) * tiles_of(row.height, tile_height);
  for (std::size_t first = 0; first < images.size(); first += max_given_images) {
    const auto given = images.subspan(first, std::min(images.size() - first, max_given_images));
    resized_images batch;
    batch.pixels = pixels;
    batch.row = row;
    std::ranges::copy(given, batch.image);
    void* parameters[] = {&batch, &tiles};
    FEEDLINE_CUDA_CHECK(cudaLaunchKernel(resize_kernel,
                                         dim3{static_cast<std::uint32_t>(given.size()) * tiles},
                                         dim3{tile_threads}, parameters, 0, stream));
  }
}

}  // namespace feedline::detail
