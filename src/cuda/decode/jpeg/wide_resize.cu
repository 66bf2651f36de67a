#include "cuda/check.hpp"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/decode/jpeg/row_memory.cuh"
#include "cuda/load_kernels.hpp"
#include "image/resize/resample_taps.hpp"

namespace feedline::detail {
namespace {

/// Columns of an image whose rows a tile sums up at once.
constexpr std::uint32_t chunk_columns = 160;

/// Sums of the rows of one channel of an image, for each row of a tile.
using wide_lines = std::int32_t[tile_height][chunk_columns];

/// The decoded values of a channel. They have 16 bits, or 8 bits that stand for 257 times as much.
struct channel_values {
  const std::byte* begin;
  std::size_t stride;  ///< values between rows
  bool is_wide;

  __device__ channel_values(const jpeg_batch& batch, const jpeg_image& image, std::uint32_t channel)
      : begin{batch.memory + image.pixels_at},
        stride{std::size_t{3} * jpeg_row_bytes(image.extents.width)},
        is_wide{image.is_wide} {
    begin += std::size_t{channel} * jpeg_row_bytes(image.extents.width) * (is_wide ? 2 : 1);
  }
  [[nodiscard]] __device__ std::int32_t at(std::uint32_t y, std::uint32_t x) const {
    const std::size_t number = y * stride + x;
    if (is_wide) return reinterpret_cast<const std::uint16_t*>(begin)[number];
    return 257 * static_cast<std::int32_t>(begin[number]);
  }
};

/// Sums up some columns of a channel over the rows of a tile. All threads share the work.
/// @param records Those of the tile's rows, of `packing::halves`.
__device__ void sum_wide_tile(wide_lines& lines, const channel_values& values, std::uint32_t begin,
                              std::uint32_t columns, const tap_records& records,
                              std::uint32_t height) {
  for (std::uint32_t i = threadIdx.x; i < height * columns; i += resize_threads) {
    const std::uint32_t* const record = records.of(i / columns);
    const std::uint32_t column = i % columns;
    std::int32_t sum = row_half;
    for (std::uint32_t tap = 0; tap < 2 * records.pairs; ++tap) {
      const auto weight = static_cast<std::int16_t>(record[1 + tap / 2] >> tap % 2 * 16);
      if (weight != 0) sum += weight * values.at(record[0] + tap, begin + column);
    }
    lines[i / columns][column] = sum >> row_shift;
  }
}

/// Adds the summed-up columns [begin, begin + chunk_columns) to a thread's pixels.
/// @param record Record of the pixels' column, of `packing::bytes`.
__device__ void add_wide_columns(std::int64_t (&sums)[thread_pixels], const wide_lines& lines,
                                 std::uint32_t begin, const std::uint32_t* record,
                                 std::uint32_t pairs) {
  for (std::uint32_t tap = 0; tap < 2 * pairs; ++tap) {
    const std::uint32_t bytes = record[1 + tap / 2] >> tap % 2 * 8;
    const auto weight = static_cast<std::int16_t>((bytes & 255U) | (bytes >> 8U & 0xFF00U));
    const std::uint32_t column = record[0] + tap - begin;  // wraps below 0
    if (weight == 0 || column >= chunk_columns) continue;
    for (std::uint32_t i = 0; i < thread_pixels; ++i)
      sums[i] += std::int64_t{weight} * lines[threadIdx.x / tile_width + i * rows_at_once][column];
  }
}

/// Writes a channel of a thread's pixels.
/// @param y The tile's first line. @param x Column of the pixels, before images are turned.
__device__ void store_wide_values(const std::int64_t (&sums)[thread_pixels],
                                  const jpeg_image& image, const image_row& row,
                                  std::uint32_t channel, std::uint32_t y, std::uint32_t x) {
  constexpr std::int64_t most = 65535;
  const made_pixels pixels{row, image};
  y += threadIdx.x / tile_width;
  for (std::uint32_t i = 0; i < thread_pixels && y < pixels.made.height; ++i, y += rows_at_once) {
    const std::int64_t value = (column_half + sums[i]) >> column_shift;
    const std::int64_t low = value < most ? value : most;
    std::byte* const to = pixels.at(y, x) + channel * pixels.row.channel_stride;
    *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(low < 0 ? 0 : low);
  }
}

__global__ void __launch_bounds__(resize_threads)
    wide_resize_kernel(const __grid_constant__ jpeg_batch batch,
                       const __grid_constant__ image_row row) {
  __shared__ wide_lines lines;
  const jpeg_image& image = batch.images[blockIdx.z];
  const image_extents made = made_extents(row, image);
  const std::uint32_t top = blockIdx.y * tile_height;
  const std::uint32_t left = blockIdx.x * tile_width;
  if (top >= made.height || left >= made.width) return;  // another image of the batch is larger
  const std::uint32_t height = min(tile_height, made.height - top);
  const std::uint32_t width = min(tile_width, made.width - left);
  const std::uint32_t x = threadIdx.x % tile_width;
  const jpeg_taps* const taps = taps_of(batch, image);
  const tap_records rows{reinterpret_cast<const std::uint32_t*>(taps + 1), taps->row_pairs};
  const tap_records columns{rows.of(made.height), taps->column_pairs};
  const std::uint32_t begin = columns.of(left)[0];
  const std::uint32_t end =
      min(columns.of(left + width - 1)[0] + 2 * columns.pairs, image.extents.width);
  for (std::uint32_t channel = 0; channel < row.channels; ++channel) {
    const channel_values values{batch, image, channel};
    std::int64_t sums[thread_pixels] = {};
    for (std::uint32_t chunk = begin; chunk < end; chunk += chunk_columns) {
      __syncthreads();
      sum_wide_tile(lines, values, chunk, min(end - chunk, chunk_columns),
                    {rows.of(top), rows.pairs}, height);
      __syncthreads();
      if (x < width) add_wide_columns(sums, lines, chunk, columns.of(left + x), columns.pairs);
    }
    if (x < width) store_wide_values(sums, image, row, channel, top, left + x);
  }
}

}  // namespace

void load_wide_resize_kernel() {
  load_kernels(wide_resize_kernel);
}

void issue_wide_resizes(const jpeg_batch& batch, const image_row& row, dim3 tiles,
                        cudaStream_t stream) {
  jpeg_batch given = batch;
  image_row wanted = row;
  void* parameters[] = {&given, &wanted};
  FEEDLINE_CUDA_CHECK(
      cudaLaunchKernel(wide_resize_kernel, tiles, dim3{resize_threads}, parameters, 0, stream));
}

}  // namespace feedline::detail
