#pragma once

#include <feedline/dataset/batch_sizes.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/read_context.hpp>
#include <feedline/image/decode.hpp>

#include "image/random_crop.hpp"
#include "image/resize/geometry.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>

namespace feedline::detail {

/// An image that does not decode. The message is the library's.
class image_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where an image is in its sample.
struct placed_image {
  resample_window window;  ///< the resized image, or the part that is shown
  image_extents sample;    ///< extents of the sample
  std::uint32_t top = 0;   ///< position of the window in it
  std::uint32_t left = 0;
  bool is_mirrored = false;  ///< left and right are exchanged within the window

  /// Whether the window is the sample as it is.
  [[nodiscard]] bool is_all() const noexcept { return window.extents == sample && !is_mirrored; }
};

/// How an image of any size is turned into a sample. Options must be valid.
class image_geometry {
 public:
  explicit image_geometry(const image_options& options);

  /// Whether samples differ from epoch to epoch.
  [[nodiscard]] bool is_random() const noexcept {
    return crop_.has_value() || flip_below_ != 0 || by_batch_;
  }

  /// @param original Extents of the image as it is shown.
  /// @throws image_error if images of this size are refused, or would be too large once enlarged,
  ///         such as 1 × 10 million pixels.
  [[nodiscard]] placed_image place(image_extents original, const sample_context& context) const;
  /// The window alone.
  [[nodiscard]] resample_window window(image_extents original,
                                       const sample_context& context) const {
    return place(original, context).window;
  }
  /// The same for an image that was placed before, as `source_of` and `in_row` say.
  /// @throws image_error also if its window is not within the image, or the image not in the row.
  [[nodiscard]] placed_image place(image_extents original, const source_window& drawn,
                                   const image_in_row& in_row) const;

  /// The part of an image from which a device makes its row.
  [[nodiscard]] static source_window source_of(const placed_image& placed) noexcept;
  /// Where a device writes an image in its row. All sides are at most 65,535.
  [[nodiscard]] image_in_row in_row(const placed_image& placed) const noexcept;

  /// Extents of the largest sample.
  [[nodiscard]] image_extents largest() const noexcept { return largest_; }
  /// Extents of a padded image in its sample, where its batch has room for it.
  [[nodiscard]] image_extents padded(image_extents original) const noexcept;

 private:
  void check(image_extents original) const;
  [[nodiscard]] placed_image place_whole(image_extents original, image_extents sample) const;
  [[nodiscard]] bool is_flipped(const sample_context& context) const noexcept;

  image_extents wanted_;
  image_extents largest_;
  std::uint32_t shorter_side_;
  std::uint64_t max_pixels_;
  image_fit fit_;
  larger_image larger_;
  std::uint64_t flip_below_;
  bool by_batch_;
  std::optional<random_crop> crop_;
};

}  // namespace feedline::detail
