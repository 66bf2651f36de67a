#include "image/all_readers.hpp"

#include "detail/text.hpp"
#include "io/file_magic.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

image_reader& present(const std::unique_ptr<image_reader>& reader, const std::string& library) {
  if (reader) return *reader;
  throw image_error{missing_library(library)};
}

}  // namespace

all_readers::all_readers(const image_options& options,
                         std::shared_ptr<std::atomic<bool>> palette_told)
    : jpeg_{make_jpeg_reader(options)},
      png_{make_png_reader(png_pixels::colors, format_of(options), std::move(palette_told))},
      webp_{make_webp_reader()},
      tiff_{make_tiff_reader(format_of(options), options.max_pixels)},
      bmp_{make_bmp_reader()},
      pnm_{make_pnm_reader(format_of(options))} {}

image_reader& all_readers::of(std::span<const std::byte> file) const {
  if (is_jpeg(file)) return present(jpeg_, "libjpeg");
  if (is_png(file)) return present(png_, "libpng");
  if (is_webp(file)) return present(webp_, "libwebp");
  if (is_tiff(file)) return present(tiff_, "libtiff");
  if (is_bmp(file)) return *bmp_;
  if (is_pnm(file)) return *pnm_;
  if (file.empty()) throw image_error{"it is empty"};
  throw image_error{"it is no JPEG, PNG, WebP, TIFF, BMP, PPM or PGM: it begins with " +
                    to_hex(file.first(std::min<std::size_t>(file.size(), 4)))};
}

pixel_format format_of(const image_options& options) {
  return {.channels = options.channels,
          .value_bytes = static_cast<std::uint32_t>(size_bytes(options.type))};
}

std::string missing_library(const std::string& name) {
  return "this feedline was built without " + name + "; install " + name +
         "-dev, and build feedline again";
}

#ifndef FEEDLINE_HAS_JPEG
std::unique_ptr<image_reader> make_jpeg_reader(const image_options&) {
  return nullptr;
}
#endif
#ifndef FEEDLINE_HAS_PNG
std::unique_ptr<image_reader> make_png_reader(png_pixels, pixel_format,
                                              std::shared_ptr<std::atomic<bool>>) {
  return nullptr;
}
#endif
#ifndef FEEDLINE_HAS_WEBP
std::unique_ptr<image_reader> make_webp_reader() {
  return nullptr;
}
#endif
#ifndef FEEDLINE_HAS_TIFF
std::unique_ptr<image_reader> make_tiff_reader(pixel_format, std::uint64_t) {
  return nullptr;
}
#endif

}  // namespace feedline::detail
