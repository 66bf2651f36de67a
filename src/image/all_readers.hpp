#pragma once

#include "image/reader.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

namespace feedline::detail {

/// Readers of all formats of images. For one thread.
class all_readers {
 public:
  /// @param palette_told See `make_png_reader`.
  all_readers(const image_options& options, std::shared_ptr<std::atomic<bool>> palette_told);

  /// The reader of a file's format. @throws image_error if it is of none, or its library was absent
  /// when feedline was built.
  [[nodiscard]] image_reader& of(std::span<const std::byte> file) const;

 private:
  std::unique_ptr<image_reader> jpeg_;
  std::unique_ptr<image_reader> png_;
  std::unique_ptr<image_reader> webp_;
  std::unique_ptr<image_reader> tiff_;
  std::unique_ptr<image_reader> bmp_;
  std::unique_ptr<image_reader> pnm_;
};

/// The format of decoded images.
[[nodiscard]] pixel_format format_of(const image_options& options);

}  // namespace feedline::detail
