#pragma once

#include <feedline/dataset/image_layout.hpp>
#include <feedline/dataset/interpolation.hpp>

#include "image/resize/geometry.hpp"
#include "image/resize/pixel_image.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::detail {

/// A resize along one axis: the taps of the wanted elements. For one thread; it reuses its memory.
class resample_axis {
 public:
  struct request {
    std::uint32_t from = 0;  ///< elements of the axis
    std::uint32_t to = 0;    ///< elements after the resize of the whole axis
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
    interpolation filter = interpolation::bilinear;
    bool is_mirrored = false;  ///< planned for the mirrored axis, and mirrored back
    friend bool operator==(const request&, const request&) = default;
  };

  /// Plans elements [begin, begin + count) of a resized axis. Does nothing if that was the last
  /// plan. `from`, `to` and `count` are not 0; begin + count <= to.
  void plan(const request& wanted);

  [[nodiscard]] std::uint32_t count() const noexcept { return wanted_.count; }
  /// Number of source elements of each wanted one; weights may be 0.
  [[nodiscard]] std::uint32_t taps() const noexcept { return taps_; }
  /// The first source element of a wanted one; `first(i) + taps() <= from`.
  [[nodiscard]] std::uint32_t first(std::uint32_t i) const noexcept { return first_[i]; }
  [[nodiscard]] std::span<const std::int16_t> weights(std::uint32_t i) const noexcept {
    return std::span{weights_}.subspan(std::size_t{i} * taps_, taps_);
  }
  /// Source elements that are used: [used_begin, used_end).
  [[nodiscard]] std::uint32_t used_begin() const noexcept { return first_.front(); }
  [[nodiscard]] std::uint32_t used_end() const noexcept { return first_.back() + taps_; }

 private:
  request wanted_;
  std::uint32_t taps_ = 0;
  std::vector<std::uint32_t> first_;
  std::vector<std::int16_t> weights_;
};

/// How far apart values are in a resized image, in values.
struct pixel_strides {
  std::size_t pixel;
  std::size_t channel;
  std::uint32_t channels;
};

/// Resizes images: columns first, then rows, in integers, so that results are the same on every
/// machine. Each value is within 1 of the exact one, which is limited to 0 to 255 only after both.
/// For one thread; it reuses its memory.
class resampler {
 public:
  explicit resampler(interpolation filter = interpolation::bilinear) noexcept : filter_{filter} {}

  /// @param window Its source is within `from`.
  /// @param out Pixels of the window, of the same format; all are written.
  void resize(const pixel_image& from, const resample_window& window, image_layout layout,
              std::span<std::byte> out);

 private:
  void resize_wide(const pixel_image& from, const image_box& source, const pixel_strides& strides,
                   std::span<std::byte> out);

  interpolation filter_;
  resample_axis rows_;
  resample_axis columns_;
  std::vector<std::int16_t> line_;
  std::vector<std::int32_t> wide_line_;
};

/// The two inner loops, as plain code and, if the machine supports it, as vector code with the same
/// results.
struct resample_loops {
  /// Makes a line: weighted sums of the columns over `taps` rows, `stride` bytes apart, times 64.
  void (*sum_rows)(const std::uint8_t* rows, std::size_t stride,
                   std::span<const std::int16_t> weights, std::span<std::int16_t> line);
  /// Makes a row's weighted sums: pixels interleaved, or in planes. @param line Its first pixel is
  /// `columns.used_begin()`; one element after its pixels must be readable.
  void (*sum_columns)(const std::int16_t* line, const resample_axis& columns, std::uint8_t* out,
                      const pixel_strides& strides);
};

[[nodiscard]] resample_loops plain_resample_loops() noexcept;
[[nodiscard]] resample_loops best_resample_loops() noexcept;

}  // namespace feedline::detail
