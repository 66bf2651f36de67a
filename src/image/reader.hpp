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

/// An image that does not decode. The message is the library's.
class image_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How an image of any size is turned into one of the wanted size. Options must be valid.
class image_geometry {
 public:
  explicit image_geometry(const image_options& options)
      : wanted_{options.height, options.width},
        shorter_side_{options.shorter_side},
        max_pixels_{options.max_pixels} {}

  /// Extents of the whole image after its resize, before any cut.
  /// @throws image_error if images of this size are refused, or would be too large once enlarged,
  ///         such as 1 × 10 million pixels.
  [[nodiscard]] image_extents resized(image_extents original) const;

  /// The window that is cut out of it, in the middle.
  [[nodiscard]] resample_window window(image_extents resized) const {
    return middle_window(resized, wanted_);
  }

 private:
  image_extents wanted_;
  std::uint32_t shorter_side_;
  std::uint64_t max_pixels_;
};

/// How a C library leaves a call that fails: it writes its message here and jumps.
struct image_library_exit {
  const char* library;
  std::jmp_buf way_out{};
  std::array<char, 200> words{};

  /// Runs calls of the library. They may jump out of the frame of `calls`, which must have nothing
  /// to destroy.
  /// @throws image_error
  template <class Calls>
  void guard(const Calls& calls) {
    if (setjmp(way_out) != 0) fail();  // NOLINT(modernize-avoid-setjmp-longjmp,cert-err52-cpp)
    calls();
  }
  /// @throws image_error with the library's message, always.
  [[noreturn]] void fail() const {
    throw image_error{std::string{library} + " says: " + words.data()};
  }
};

/// Decodes one format of images. For one thread; it reuses its memory. This is the interface of the
/// formats. A decoder that leaves pixels on a device would differ here: this one gets bytes and
/// returns an image.
class image_reader {
 public:
  image_reader() = default;
  image_reader(const image_reader&) = delete;
  image_reader& operator=(const image_reader&) = delete;
  virtual ~image_reader() = default;

  /// The image may come smaller than it is stored, but not smaller than the size to which it is
  /// resized.
  /// @return The stored extents.
  /// @throws image_error
  virtual image_extents read(std::span<const std::byte> file, rgb_image& out) = 0;
};

/// Null if the library was absent when feedline was built.
[[nodiscard]] std::unique_ptr<image_reader> make_jpeg_reader(const image_options& options);
/// @param told Whether the log has said that palettes are converted to colors; set once it has.
///        Shared by the readers of one decoder.
[[nodiscard]] std::unique_ptr<image_reader> make_png_reader(
    const image_options& options, std::shared_ptr<std::atomic<bool>> told);

}  // namespace feedline::detail
