#pragma once

#include <feedline/image/decode.hpp>

#include "image/resampler.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

namespace feedline::detail {

/// How an image of any size becomes one of the size wanted. Options are valid.
class image_geometry {
 public:
  explicit image_geometry(const image_options& options)
      : wanted_{options.height, options.width}, shorter_side_{options.shorter_side} {}

  /// What the whole of an image becomes, before any cut; nothing if that is beyond all measure: an image
  /// of 1 × 10 million pixels, enlarged.
  [[nodiscard]] std::optional<image_extents> resized(image_extents original) const {
    if (shorter_side_ == 0) return wanted_;
    const std::uint64_t shorter = std::min(original.height, original.width);
    const std::uint64_t longer = std::max(original.height, original.width);
    const std::uint64_t to = longer * shorter_side_ / shorter;
    if (to > std::uint64_t{1} << 30) return std::nullopt;
    const auto other = static_cast<std::uint32_t>(to);
    return original.width <= original.height ? image_extents{other, shorter_side_}
                                             : image_extents{shorter_side_, other};
  }

  /// The window that is kept of it, in the middle.
  [[nodiscard]] resample_window window(image_extents resized) const {
    return {resized, middle(resized.height - wanted_.height), middle(resized.width - wanted_.width),
            wanted_};
  }

 private:
  /// Half of what is left over; a half pixel goes to the even side, as Python's round has it.
  static std::uint32_t middle(std::uint32_t rest) {
    const std::uint32_t half = rest / 2;
    return half + (rest % 2 != 0 && half % 2 != 0 ? 1U : 0U);
  }

  image_extents wanted_;
  std::uint32_t shorter_side_;
};

/// An image that does not decode: what is wrong, in the library's words.
class image_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Decodes one format of images. One thread's; keeps its memory. This is the seam of the formats, and where
/// a decoder that leaves pixels on a device would differ: it is given bytes and gives an image.
class image_reader {
 public:
  image_reader() = default;
  image_reader(const image_reader&) = delete;
  image_reader& operator=(const image_reader&) = delete;
  virtual ~image_reader() = default;

  /// @param geometry Of the resize that follows: the image may come smaller than it is stored, but not
  ///                 smaller than what it is resized to.
  /// @return As large as it is stored.
  /// @throws image_error
  virtual image_extents read(std::span<const std::byte> file, const image_geometry& geometry,
                             rgb_image& out) = 0;
};

/// Where the library was absent when feedline was built, these give a reader that says so when it is used.
[[nodiscard]] std::unique_ptr<image_reader> make_jpeg_reader(const image_options& options);
[[nodiscard]] std::unique_ptr<image_reader> make_png_reader(const image_options& options);

/// @throws image_error if an image of this size is not to be read.
void require_within(image_extents extents, const image_options& options);

}  // namespace feedline::detail
