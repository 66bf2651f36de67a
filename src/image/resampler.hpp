#pragma once

#include <feedline/dataset/image_layout.hpp>

#include "image/resample_axis.hpp"
#include "image/rgb_image.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// A window of an image after its resize.
struct resample_window {
  image_extents resized;  ///< what the whole image becomes
  std::uint32_t top = 0;
  std::uint32_t left = 0;
  image_extents extents;  ///< of the window, which lies within `resized`
};

/// Resizes images: columns first, then rows, in integers, so that results are the same on every machine.
/// Each is within 1 of the exact value. One thread's; keeps its memory.
class resampler {
 public:
  /// @param out The window's pixels, 3 bytes each; all are written.
  void resize(const rgb_image& from, const resample_window& window, image_layout layout,
              std::span<std::byte> out);

 private:
  resample_axis rows_;
  resample_axis columns_;
  std::vector<std::int16_t> line_;
};

/// The two inner loops, as plain code and, where the machine has it, as vector code that gives the same.
struct resample_loops {
  /// A line of the columns' weighted sums over `taps` rows, `stride` bytes apart, times 64.
  void (*sum_rows)(const std::uint8_t* rows, std::size_t stride,
                   std::span<const std::int16_t> weights, std::span<std::int16_t> line);
  /// The row's weighted sums: pixels one after the other, or in three planes. @param line Its first pixel is
  /// `columns.used_begin()`; one element more than its pixels can be read.
  void (*sum_columns)(const std::int16_t* line, const resample_axis& columns, std::uint8_t* out,
                      std::size_t pixel_stride, std::size_t channel_stride);
};

[[nodiscard]] resample_loops plain_resample_loops() noexcept;
[[nodiscard]] resample_loops best_resample_loops() noexcept;

}  // namespace feedline::detail
