#include "cuda/check.hpp"
#include "cuda/decode/jpeg/kernels.hpp"
#include "cuda/decode/jpeg/row_memory.cuh"
#include "cuda/kernel/warp.cuh"
#include "cuda/load_kernels.hpp"
#include "image/resize/four_pixels.hpp"
#include "image/resize/packed_taps.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

constexpr std::uint32_t threads = resize_threads;
/// Columns of an image whose rows a tile sums up at once. A multiple of 8.
constexpr std::uint32_t chunk_columns = 160;
constexpr std::uint32_t chunk_words = chunk_columns / 2;

/// Thread blocks that share the taps of an axis.
constexpr std::uint32_t tap_shares = 2;
constexpr std::uint32_t tap_threads = 128;
/// Thread blocks that share the padding of a row.
constexpr std::uint32_t fill_shares = 16;

/// Sums of an image's rows: lines of its channels for each row of a tile.
template <std::uint32_t Channels>
using tile_lines = std::uint32_t[tile_height][Channels][chunk_words];

/// Computes an axis' records. @param number Index of this thread among `count`.
__device__ void write_records(const packed_taps& taps, std::uint32_t elements, std::uint32_t* words,
                              std::uint32_t number, std::uint32_t count) {
  const std::uint32_t at_once = taps.pairs_at_once();
  const std::uint32_t parts = (taps.pairs() + at_once - 1) / at_once;
  for (std::uint32_t i = number; i < elements * parts; i += count) {
    const std::uint32_t element = i / parts;
    const std::uint32_t first = i % parts * at_once;
    taps.write(element, first, min(first + at_once, taps.pairs()),
               words + element * (1 + taps.pairs()));
  }
}

__global__ void __launch_bounds__(tap_threads)
    tap_kernel(const __grid_constant__ jpeg_batch batch, const __grid_constant__ image_row row) {
  const jpeg_image& image = batch.images[blockIdx.y];
  if (image.keeps_size) return;
  const resample_window window = window_of(row, image);
  const image_box& from = window.source;
  const packed_taps rows{row.interpolation,   packed_taps::packing::halves,
                         from.extents.height, window.resized.height,
                         window.top,          from.top,
                         window.mirrors_rows};
  const packed_taps columns{row.interpolation,     packed_taps::packing::bytes,
                            from.extents.width,    window.resized.width,
                            window.left,           from.left,
                            window.mirrors_columns};
  jpeg_taps* const taps = taps_of(batch, image);
  auto* const words = reinterpret_cast<std::uint32_t*>(taps + 1);
  const std::uint32_t number = blockIdx.x / 2 * tap_threads + threadIdx.x;
  constexpr std::uint32_t count = tap_shares * tap_threads;
  if (blockIdx.x % 2 == 0) {
    if (number == 0) *taps = {rows.pairs(), columns.pairs()};
    write_records(rows, window.extents.height, words, number, count);
  } else {
    write_records(columns, window.extents.width, words + window.extents.height * (1 + rows.pairs()),
                  number, count);
  }
}

/// Sums up some columns of an image over the rows of a tile. All threads share the work. Reads
/// after the image's last row hit its blocks.
/// @param pixels The first column. @param width Width of the image. @param height Height of the
///               tile.
/// @param records Records of the tile's rows.
template <std::uint32_t Channels>
__device__ void sum_tile(tile_lines<Channels>& lines, const std::uint8_t* pixels,
                         std::uint32_t width, std::uint32_t columns, const tap_records& records,
                         std::uint32_t height) {
  const std::uint32_t row_bytes = jpeg_row_bytes(width);
  // A thread sums up eight columns of a channel, over every `rows_apart`-th row.
  const std::uint32_t groups = (columns + 7) / 8;
  const std::uint32_t rows_apart = threads / (Channels * groups);
  const std::uint32_t first = threadIdx.x / (Channels * groups);
  const std::uint32_t number = threadIdx.x % (Channels * groups);
  const std::uint32_t channel = (number < groups ? 0 : 1) + (number < 2 * groups ? 0 : 1);
  const std::uint32_t group = number - channel * groups;
  if (first >= rows_apart || first >= height) return;
  pixels += channel * row_bytes + 8 * group;
  const std::uint32_t* record = records.of(first);
  auto* line = reinterpret_cast<uint4*>(lines[first][channel]) + group;
  FEEDLINE_SHORT_LOOP
  for (std::uint32_t row = first; row < height; row += rows_apart) {
    const packed_line sums = sum_rows(pixels, 3 * row_bytes, record, records.pairs);
    *line = {sums.word[0], sums.word[1], sums.word[2], sums.word[3]};
    record += rows_apart * (1 + records.pairs);
    line += rows_apart * (sizeof lines[0] / sizeof *line);
  }
}

/// Adds the summed-up columns [begin, begin + chunk_columns) to a thread's pixels.
/// @param record Record of the pixels' column.
template <std::uint32_t Channels>
__device__ void add_columns(std::uint32_t (&sums)[thread_pixels][Channels],
                            const tile_lines<Channels>& lines, std::uint32_t begin,
                            const std::uint32_t* record, std::uint32_t pairs) {
  const std::uint32_t first = record[0];
  const std::uint32_t end = begin + chunk_columns;
  if (first >= end) return;
  const std::uint32_t first_pair = first < begin ? (begin - first) / 2 : 0;
  const std::uint32_t end_pair = min((end - first) / 2, pairs);
  const std::uint32_t* two =
      &lines[threadIdx.x / tile_width][0][first < begin ? 0 : (first - begin) / 2];
  column_sum added[thread_pixels][Channels];
  for (std::uint32_t pair = first_pair; pair < end_pair; ++pair, ++two) {
    const std::uint32_t weights = record[1 + pair];
    for (std::uint32_t i = 0; i < thread_pixels; ++i)
      for (std::uint32_t channel = 0; channel < Channels; ++channel)
        added[i][channel].add(two[(i * rows_at_once * Channels + channel) * chunk_words], weights);
  }
  for (std::uint32_t i = 0; i < thread_pixels; ++i)
    for (std::uint32_t channel = 0; channel < Channels; ++channel)
      sums[i][channel] += added[i][channel].sum();
}

/// Writes a thread's pixels.
/// @param y The tile's first line. @param x Column of the pixels, before images are turned.
template <std::uint32_t Channels>
__device__ void store_pixels(const std::uint32_t (&sums)[thread_pixels][Channels],
                             const jpeg_image& image, const image_row& row, std::uint32_t y,
                             std::uint32_t x) {
  const made_pixels pixels{row, image};
  y += threadIdx.x / tile_width;
  std::byte* to = pixels.at(y, x);
  const std::ptrdiff_t apart = pixels.at(y + rows_at_once, x) - to;  // may be negative
  for (std::uint32_t i = 0; i < thread_pixels && y < pixels.made.height; ++i) {
    for (std::uint32_t channel = 0; channel < Channels; ++channel)
      to[channel * pixels.row.channel_stride] = static_cast<std::byte>(pixel_of(sums[i][channel]));
    y += rows_at_once;
    to += apart;
  }
}

template <std::uint32_t Channels>
__global__ void __launch_bounds__(threads, 5)
    resize_kernel(const __grid_constant__ jpeg_batch batch, const __grid_constant__ image_row row) {
  alignas(sizeof(uint4)) __shared__ tile_lines<Channels> lines;
  const jpeg_image& image = batch.images[blockIdx.z];
  const image_extents made = made_extents(row, image);
  const std::uint32_t top = blockIdx.y * tile_height;
  const std::uint32_t left = blockIdx.x * tile_width;
  if (top >= made.height || left >= made.width) return;  // another image of the batch is larger
  if (image.keeps_size) return;
  const std::uint32_t height = min(tile_height, made.height - top);
  const std::uint32_t width = min(tile_width, made.width - left);
  const std::uint32_t x = threadIdx.x % tile_width;
  const auto* const pixels = reinterpret_cast<const std::uint8_t*>(batch.memory + image.pixels_at);
  const jpeg_taps* const taps = taps_of(batch, image);
  const tap_records rows{reinterpret_cast<const std::uint32_t*>(taps + 1), taps->row_pairs};
  const tap_records columns{rows.of(made.height), taps->column_pairs};

  // The columns of the image that the tile needs, limited to those that exist.
  const std::uint32_t begin = columns.of(left)[0] / 8 * 8;
  const std::uint32_t end =
      min(columns.of(left + width - 1)[0] + 2 * columns.pairs, image.extents.width);
  std::uint32_t sums[thread_pixels][Channels] = {};
  FEEDLINE_SHORT_LOOP
  for (std::uint32_t chunk = begin; chunk < end; chunk += chunk_columns) {
    if (chunk != begin) __syncthreads();
    sum_tile<Channels>(lines, pixels + chunk, image.extents.width, min(end - chunk, chunk_columns),
                       {rows.of(top), rows.pairs}, height);
    __syncthreads();
    if (x < width) add_columns<Channels>(sums, lines, chunk, columns.of(left + x), columns.pairs);
  }
  if (x < width) store_pixels<Channels>(sums, image, row, top, left + x);
}

/// Copies images that keep their size: a thread copies four pixels side by side. Resizing would
/// leave them as they are.
template <std::uint32_t Channels>
__global__ void __launch_bounds__(threads)
    copy_kernel(const __grid_constant__ jpeg_batch batch, const __grid_constant__ image_row row) {
  constexpr std::uint32_t across = tile_width / four_pixels::count;
  static_assert(across * tile_height == threads);
  const jpeg_image image = batch.images[blockIdx.z];
  const image_extents shown = shown_extents(row, image.in_row);
  const std::uint32_t y = blockIdx.y * tile_height + threadIdx.x / across;
  const std::uint32_t x = blockIdx.x * tile_width + threadIdx.x % across * four_pixels::count;
  if (!image.keeps_size || y >= shown.height || x >= shown.width) return;
  const resample_window window = window_of(row, image);
  const std::uint32_t row_bytes = jpeg_row_bytes(image.extents.width);
  const auto* const from = reinterpret_cast<const std::uint8_t*>(batch.memory + image.pixels_at) +
                           std::size_t{3} * (window.source.top + window.top + y) * row_bytes +
                           window.source.left + window.left + x;
  const row_memory memory{row, image};
  const std::uint32_t count = min(four_pixels::count, shown.width - x);
  const bool mirrored = image.in_row.mirrored;
  const std::uint32_t first = mirrored ? shown.width - count - x : x;
  std::byte* const to = memory.pixel(image.in_row.top + y, image.in_row.left + first);
  const bool in_planes = memory.pixel_stride == 1;
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(from) |
                             reinterpret_cast<std::uintptr_t>(to) |
                             (in_planes ? memory.channel_stride : 0);
  if (count < four_pixels::count || all % sizeof(std::uint32_t) != 0) {
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::uint32_t channel = 0; channel < Channels; ++channel)
        to[(mirrored ? count - 1 - i : i) * memory.pixel_stride + channel * memory.channel_stride] =
            static_cast<std::byte>(from[channel * row_bytes + i]);
    return;
  }
  four_pixels pixels{};
  for (std::uint32_t channel = 0; channel < Channels; ++channel)
    pixels.channel[channel] = load_word(from + channel * row_bytes);
  if (mirrored) pixels = pixels.mirrored();
  std::uint32_t words[3] = {pixels.channel[0], pixels.channel[1], pixels.channel[2]};
  if (!in_planes) pixels.interleave(words);
  for (std::uint32_t i = 0; i < Channels; ++i)
    *reinterpret_cast<std::uint32_t*>(to + (in_planes ? i * memory.channel_stride : 4 * i)) =
        words[i];
}

/// Fills what images leave of their rows: a warp takes a line of pixels.
__global__ void __launch_bounds__(threads)
    fill_kernel(const __grid_constant__ jpeg_batch batch, const __grid_constant__ image_row row) {
  const jpeg_image image = batch.images[blockIdx.y];
  const image_extents all = row_extents(image.in_row, {row.height, row.width});
  const image_extents shown = shown_extents(row, image.in_row);
  if (shown == all) return;
  const row_memory memory{row, image};
  const std::uint32_t value_bytes = row.type == element_type::u16 ? 2 : 1;
  constexpr std::uint32_t warps = threads / warp_team::width;
  for (std::uint32_t y = blockIdx.x * warps + threadIdx.x / warp_team::width; y < all.height;
       y += fill_shares * warps) {
    const bool is_beside = y >= image.in_row.top && y - image.in_row.top < shown.height;
    const std::uint32_t left_out = is_beside ? shown.width : 0;
    for (std::uint32_t i = threadIdx.x % warp_team::width; i < all.width - left_out;
         i += warp_team::width) {
      std::byte* const to = memory.pixel(y, i < image.in_row.left ? i : i + left_out);
      for (std::uint32_t channel = 0; channel < row.channels; ++channel)
        for (std::uint32_t byte = 0; byte < value_bytes; ++byte)  // 255 becomes 65,535
          to[channel * memory.channel_stride + byte] = static_cast<std::byte>(row.fill[channel]);
    }
  }
}

constexpr std::uint32_t tiles_of(std::uint32_t side, std::uint32_t tile) {
  return side / tile + (side % tile != 0 ? 1 : 0);
}

}  // namespace

void load_resize_kernels() {
  load_kernels(tap_kernel, resize_kernel<3>, resize_kernel<1>, copy_kernel<3>, copy_kernel<1>,
               fill_kernel);
  load_wide_resize_kernel();
}

void issue_resizes(const jpeg_batch& batch, const image_row& row,
                   std::span<const jpeg_image> images, cudaStream_t stream) {
  image_extents most;  // extents of the images in their rows
  bool any_resized = false;
  bool any_copied = false;
  bool any_padded = false;
  for (const jpeg_image& image : images) {
    const image_extents shown = shown_extents(row, image.in_row);
    const image_extents made = made_extents(row, image);
    most = {std::max(most.height, made.height), std::max(most.width, made.width)};
    any_copied = any_copied || image.keeps_size;
    any_resized = any_resized || !image.keeps_size;
    any_padded =
        any_padded || shown != row_extents(image.in_row, image_extents{row.height, row.width});
  }
  const dim3 tiles{tiles_of(most.width, tile_width), tiles_of(most.height, tile_height),
                   batch.count};
  jpeg_batch given = batch;
  image_row wanted = row;
  void* parameters[] = {&given, &wanted};
  const auto issue = [&](auto* kernel, dim3 blocks, std::uint32_t block_threads) {
    FEEDLINE_CUDA_CHECK(
        cudaLaunchKernel(kernel, blocks, dim3{block_threads}, parameters, 0, stream));
  };
  const bool is_grey = row.channels == 1;
  if (any_resized) {
    issue(tap_kernel, dim3{2 * tap_shares, batch.count}, tap_threads);
    if (row.type == element_type::u16)
      issue_wide_resizes(batch, row, tiles, stream);
    else
      issue(is_grey ? resize_kernel<1> : resize_kernel<3>, tiles, threads);
  }
  if (any_copied) issue(is_grey ? copy_kernel<1> : copy_kernel<3>, tiles, threads);
  if (any_padded) issue(fill_kernel, dim3{fill_shares, batch.count}, threads);
}

}  // namespace feedline::detail
