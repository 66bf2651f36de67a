#pragma once

#include <feedline/image/decode.hpp>

#include "image/resampler.hpp"

#include <array>
#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace feedline::detail {

/// An image that does not decode: what is wrong, in the library's words.
class image_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How an image of any size becomes one of the size wanted. Options are valid.
class image_geometry {
 public:
  explicit image_geometry(const image_options& options)
      : wanted_{options.height, options.width},
        shorter_side_{options.shorter_side},
        max_pixels_{options.max_pixels} {}

  /// What the whole of an image becomes, before any cut.
  /// @throws image_error if an image of this size is not to be read, or is beyond all measure once
  ///         it is enlarged: 1 × 10 million pixels.
  [[nodiscard]] image_extents resized(image_extents original) const;

  /// The window that is kept of it, in the middle.
  [[nodiscard]] resample_window window(image_extents resized) const {
    return middle_window(resized, wanted_);
  }

 private:
  image_extents wanted_;
  std::uint32_t shorter_side_;
  std::uint64_t max_pixels_;
};

/// How a C library leaves a call that fails: it writes its words here and jumps.
struct image_library_exit {
  const char* library;
  std::jmp_buf way_out{};
  std::array<char, 200> words{};

  /// Runs calls of the library; what they jump over, the frame of `calls`, must have nothing to
  /// destroy.
  /// @throws image_error
  template <class Calls>
  void guard(const Calls& calls) {
    if (setjmp(way_out) != 0) fail();  // NOLINT(modernize-avoid-setjmp-longjmp,cert-err52-cpp)
    calls();
  }
  /// @throws image_error in the library's words, always.
  [[noreturn]] void fail() const {
    throw image_error{std::string{library} + " says: " + words.data()};
  }
};

/// Decodes one format of images. One thread's; keeps its memory. This is the seam of the formats,
/// and where a decoder that leaves pixels on a device would differ: it is given bytes and gives an
/// image.
class image_reader {
 public:
  image_reader() = default;
  image_reader(const image_reader&) = delete;
  image_reader& operator=(const image_reader&) = delete;
  virtual ~image_reader() = default;

  /// The image may come smaller than it is stored, but not smaller than what it is resized to.
  /// @return As large as it is stored.
  /// @throws image_error
  virtual image_extents read(std::span<const std::byte> file, rgb_image& out) = 0;
};

/// Null where the library was absent when feedline was built.
[[nodiscard]] std::unique_ptr<image_reader> make_jpeg_reader(const image_options& options);
/// @param told Whether the log has told that palettes become colours; set when it has. Of one
///        decoder, whose readers share it.
[[nodiscard]] std::unique_ptr<image_reader> make_png_reader(
    const image_options& options, std::shared_ptr<std::atomic<bool>> told);

}  // namespace feedline::detail
