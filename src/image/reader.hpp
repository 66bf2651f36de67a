#pragma once

#include <feedline/image/decode.hpp>

#include "image/geometry.hpp"
#include "image/rgb_image.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>

namespace feedline::detail {

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
