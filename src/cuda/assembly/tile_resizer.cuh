#pragma once

#include "cuda/assembly/augment_tile.cuh"
#include "cuda/assembly/elements.cuh"
#include "detail/rounded.hpp"
#include "device/resize_taps.hpp"

#include <cstdint>

namespace feedline::detail {

/// `resize_taps` in the form that kernels use: distances are floats, which are exact.
struct tile_taps {
  std::uint32_t first;
  std::uint32_t count;
  float distance;
  float total;
  float inverse;  ///< inverse of the total, rounded
};

/// Values that the taps of an axis share.
class tile_axis {
 public:
  __device__ tile_axis(std::uint32_t from, std::uint32_t to)
      : from_{from},
        to_{to},
        step_{static_cast<float>(2 * to)},
        reach_{static_cast<float>(2 * max(from, to))} {}

  [[nodiscard]] __device__ tile_taps taps(std::uint32_t i) const {
    const resize_taps taps = taps_of(i, from_, to_);
    return {taps.first, taps.count, static_cast<float>(taps.distance), taps.total,
            __frcp_rn(taps.total)};
  }
  /// Calls f(index of the tap, its weight) for each tap.
  template <class Function>
  __device__ __forceinline__ void for_taps(const tile_taps& taps, const Function& f) const {
    float distance = taps.distance;
#pragma unroll 1
    for (std::uint32_t tap = 0; tap < taps.count; ++tap, distance += step_)
      f(tap, reach_ - fabsf(distance));
  }

 private:
  std::uint32_t from_;
  std::uint32_t to_;
  float step_;
  float reach_;
};

/// Divides sums by the taps' total. Sums of integers are multiplied by its reciprocal, with the
/// same bits as a result.
template <class T>
__device__ __forceinline__ void divide_by_total(color& sums, const tile_taps& taps) {
  for (float& each : sums.of)
    each = is_whole_element<T> && sizeof(T) <= 2 ? quotient_by(each, taps.total, taps.inverse)
                                                 : quotient(each, taps.total);
}

/// Shared memory of a block that resizes to a tile: taps, which take 64-bit divisions, and the
/// window's lines, resized to the tile's columns, because several of its rows need them.
struct resized_tile_memory {
  static constexpr std::uint32_t max_lines = 76;

  tile_taps columns[augment_tile_width];
  tile_taps rows[augment_tile_height];
  float lines[max_lines][3][augment_tile_width];
};

/// Resizes a sample's image to a tile.
template <class T, image_kind Kind>
class tile_resizer {
 public:
  /// All threads of a block together compute the tile's taps.
  __device__ tile_resizer(resized_tile_memory& shared, const conversion& by,
                          const augmented_image& image, const augment_tile& tile)
      : shared_{shared},
        by_{by},
        image_{image},
        tile_{tile},
        rows_{image.resized.height, by.to_height},
        columns_{image.resized.width, by.to_width} {
    __syncthreads();  // the taps before are no longer used
    const std::uint32_t i = threadIdx.x;
    if (i < tile.width) {
      const std::uint32_t x = tile.left + i;
      shared.columns[i] = columns_.taps(image.flipped ? by.to_width - 1 - x : x);
    } else if (i >= warp_threads && i - warp_threads < tile.height) {
      shared.rows[i - warp_threads] = rows_.taps(tile.top + i - warp_threads);
    }
    __syncthreads();
  }
  static_assert(warp_threads + augment_tile_height <= block_threads);

  /// Calls f(row of the tile, color) for each of a thread's pixels. A color has three channels from
  /// `first` on, or fewer if the image has no more.
  template <class Function>
  __device__ __forceinline__ void for_pixels(std::uint32_t first, const Function& f) {
    const elements source{by_, image_.row, first};
    const std::uint32_t channels = channels_from<Kind>(by_, first);
    for (std::uint32_t begin = 0; begin < tile_.height;) {
      const std::uint32_t line = shared_.rows[begin].first;
      std::uint32_t end = tile_.height;
      while (end > begin && end_line(end - 1) - line > resized_tile_memory::max_lines) --end;
      const bool has_room = end > begin;
      if (has_room) {
        if (begin > 0 || first > 0) __syncthreads();  // the lines before are no longer used
        make_lines(source, line, end_line(end - 1), channels);
        __syncthreads();
      } else {
        ++end;  // a row that needs more lines than there is room for
      }
      if (tile_column() < tile_.width)
#pragma unroll 1
        for (std::uint32_t row = begin + tile_row(); row < end; row += block_warps)
          f(row, has_room ? sum_lines(row, line) : sum_all(source, row, channels));
      begin = end;
    }
  }

 private:
  using elements = source_elements<T, Kind>;

  [[nodiscard]] __device__ std::uint32_t end_line(std::uint32_t row) const {
    return shared_.rows[row].first + shared_.rows[row].count;
  }

  /// Resizes a line of the window to one column.
  [[nodiscard]] __device__ __forceinline__ color sum_columns(const elements& source,
                                                             std::uint32_t line,
                                                             const tile_taps& taps,
                                                             std::uint32_t channels) const {
    color sums{};
    std::uint32_t element = source.at(image_.resized.top + line, image_.resized.left + taps.first);
    columns_.for_taps(taps, [&](std::uint32_t, float weight) {
      for (std::uint32_t c = 0; c < 3; ++c)
        if (c < channels) sums.of[c] = sum(sums.of[c], product(weight, source.load(element, c)));
      element += source.column_apart();
    });
    divide_by_total<T>(sums, taps);
    return sums;
  }
  /// Resizes lines [begin, end) of the window to the tile's columns.
  __device__ __forceinline__ void make_lines(const elements& source, std::uint32_t begin,
                                             std::uint32_t end, std::uint32_t channels) {
    if (tile_column() >= tile_.width) return;
    const tile_taps taps = shared_.columns[tile_column()];
#pragma unroll 1
    for (std::uint32_t line = begin + tile_row(); line < end; line += block_warps) {
      const color sums = sum_columns(source, line, taps, channels);
      for (std::uint32_t c = 0; c < 3; ++c)
        shared_.lines[line - begin][c][tile_column()] = sums.of[c];
    }
  }
  /// @param line The first line that `make_lines` made.
  [[nodiscard]] __device__ __forceinline__ color sum_lines(std::uint32_t row,
                                                           std::uint32_t line) const {
    const tile_taps taps = shared_.rows[row];
    color sums{};
    rows_.for_taps(taps, [&](std::uint32_t tap, float weight) {
      const auto& values = shared_.lines[taps.first - line + tap];
      for (std::uint32_t c = 0; c < 3; ++c)
        sums.of[c] = sum(sums.of[c], product(weight, values[c][tile_column()]));
    });
    divide_by_total<T>(sums, taps);
    return sums;
  }
  /// The same result, computed without stored lines.
  [[nodiscard]] __device__ color sum_all(const elements& source, std::uint32_t row,
                                         std::uint32_t channels) const {
    const tile_taps taps = shared_.rows[row];
    color sums{};
    rows_.for_taps(taps, [&](std::uint32_t tap, float weight) {
      const color line =
          sum_columns(source, taps.first + tap, shared_.columns[tile_column()], channels);
      for (std::uint32_t c = 0; c < 3; ++c)
        sums.of[c] = sum(sums.of[c], product(weight, line.of[c]));
    });
    divide_by_total<T>(sums, taps);
    return sums;
  }

  resized_tile_memory& shared_;
  const conversion& by_;
  const augmented_image& image_;
  const augment_tile& tile_;
  tile_axis rows_;
  tile_axis columns_;
};

}  // namespace feedline::detail
