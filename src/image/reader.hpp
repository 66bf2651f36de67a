#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/image/decode.hpp>

#include "image/image_geometry.hpp"
#include "image/resize/resampler.hpp"

#include <array>
#include <atomic>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace feedline::detail {

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

/// Says which window of an image is wanted, once its extents are known. @throws image_error
using image_cut = std::function<resample_window(image_extents original)>;

/// Decodes one format of images. For one thread; it reuses its memory. This is the interface of the
/// formats. A decoder that leaves pixels on a device would differ here: this one gets bytes and
/// returns an image.
class image_reader {
 public:
  image_reader() = default;
  image_reader(const image_reader&) = delete;
  image_reader& operator=(const image_reader&) = delete;
  virtual ~image_reader() = default;

  /// The image may come smaller than it is stored, but its wanted part not smaller than the size to
  /// which it is resized; and pixels around that part may be left out. It may have another format
  /// than is wanted, with no more bytes a value.
  /// @return The window that `cut` gave, with its source as a part of `out`.
  /// @throws image_error
  virtual resample_window read(std::span<const std::byte> file, const image_cut& cut,
                               pixel_image& out) = 0;
};

/// Null if the library was absent when feedline was built.
[[nodiscard]] std::unique_ptr<image_reader> make_jpeg_reader(const image_options& options);
/// How a reader gives pixels: as colours or grey, or in one byte as they are stored.
enum class png_pixels : std::uint8_t { colors, indices };

/// @param wanted The format to which colours are converted afterwards.
/// @param told Whether the log has said that palettes are converted to colors; set once it has.
///        Shared by the readers of one decoder. Not used for indices.
[[nodiscard]] std::unique_ptr<image_reader> make_png_reader(
    png_pixels pixels, pixel_format wanted, std::shared_ptr<std::atomic<bool>> told);

/// Logs that a palette's colours are read, unless `told`, which is set.
void report_palette(std::atomic<bool>& told, image_extents extents);
[[nodiscard]] std::unique_ptr<image_reader> make_webp_reader();
/// Values of 16 bits keep them if that is wanted. @param max_pixels `image_options::max_pixels`.
[[nodiscard]] std::unique_ptr<image_reader> make_tiff_reader(pixel_format wanted,
                                                             std::uint64_t max_pixels);
[[nodiscard]] std::unique_ptr<image_reader> make_bmp_reader();
/// PPM and PGM. Values of 16 bits keep them if that is wanted.
[[nodiscard]] std::unique_ptr<image_reader> make_pnm_reader(pixel_format wanted);

/// A decoder of images or masks; its options say how it cuts them.
class sized_decoder : public decoder {
 public:
  [[nodiscard]] virtual const image_options& options() const noexcept = 0;

  /// Options of a decoder; null: it decodes something else.
  [[nodiscard]] static const image_options* of(const decoder& any) noexcept {
    const auto* const found = dynamic_cast<const sized_decoder*>(&any);
    return found == nullptr ? nullptr : &found->options();
  }
};

/// The reason why no image of a format can be read.
[[nodiscard]] std::string missing_library(const std::string& name);

}  // namespace feedline::detail
