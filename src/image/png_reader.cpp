#include "image/reader.hpp"

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <png.h>

namespace feedline::detail {
namespace {

/// Data of libpng's callbacks, found through their pointers.
struct png_session : image_library_exit {
  std::span<const std::byte> rest = {};
};

[[noreturn]] void give_up(png_structp png, png_const_charp words) {
  auto& current = *static_cast<png_session*>(png_get_error_ptr(png));
  std::snprintf(current.words.data(), current.words.size(), "%s", words);
  std::longjmp(current.way_out, 1);
}

/// Warnings are not about pixels, except where newer versions continue after a wrong checksum of a
/// palette or of the end. Older ones give up.
void on_warning(png_structp png, png_const_charp message) {
  const std::string_view words{message};
  if ((words.starts_with("PLTE:") || words.starts_with("IEND:")) && words.ends_with("CRC error"))
    png_error(png, message);
}

void give_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto& current = *static_cast<png_session*>(png_get_io_ptr(png));
  if (count > current.rest.size()) png_error(png, "the file ends early");
  std::memcpy(to, current.rest.data(), count);
  current.rest = current.rest.subspan(count);
}

/// libpng's reader, which reads only one image.
struct png_structs {
  png_structs() = default;
  png_structs(const png_structs&) = delete;
  png_structs& operator=(const png_structs&) = delete;
  ~png_structs() { png_destroy_read_struct(&png, &info, nullptr); }

  png_structp png = nullptr;
  png_infop info = nullptr;
};

class png_reader final : public image_reader {
 public:
  png_reader(png_pixels pixels, pixel_format wanted, std::shared_ptr<std::atomic<bool>> told)
      : pixels_{pixels}, wanted_{wanted}, told_{std::move(told)} {}

  resample_window read(std::span<const std::byte> file, const image_cut& cut,
                       pixel_image& out) override {
    session_.rest = file;
    png_structs current;
    open(current);
    const image_extents extents{png_get_image_height(current.png, current.info),
                                png_get_image_width(current.png, current.info)};
    const bool has_palette =
        png_get_color_type(current.png, current.info) == PNG_COLOR_TYPE_PALETTE;
    const resample_window window = cut(extents);
    if (pixels_ == png_pixels::indices) require_indices(current);
    out.resize(extents, format_of(current));
    read_rows(current, out);
    if (pixels_ == png_pixels::colors && has_palette) report_palette(*told_, extents);
    return window;
  }

 private:
  void open(png_structs& current) {
    session_.guard([&] {
      current.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &session_, give_up, on_warning);
      if (current.png != nullptr) current.info = png_create_info_struct(current.png);
    });
    if (current.info == nullptr)
      throw image_error{"libpng could not begin: no memory, or its version is not that of " +
                        std::string{PNG_LIBPNG_VER_STRING}};
    session_.guard([&] {
      png_set_read_fn(current.png, &session_, give_bytes);
      png_set_user_limits(current.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // ours are elsewhere
      // Texts, profiles and dates are skipped, however long: they can be decompression bombs, too.
      png_set_chunk_malloc_max(current.png, 0);
      png_set_keep_unknown_chunks(current.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(current.png, current.info);
    });
  }

  static void require_indices(png_structs& current) {
    const auto type = png_get_color_type(current.png, current.info);
    if (type != PNG_COLOR_TYPE_PALETTE && type != PNG_COLOR_TYPE_GRAY)
      throw image_error{"it has colours or alpha, not a palette or grey values"};
    if (png_get_bit_depth(current.png, current.info) > 8)
      throw image_error{"it has 16 bits a pixel, but values of masks have up to 8"};
  }

  /// The format in which the pixels are read: as few channels and bytes as are wanted and stored.
  [[nodiscard]] pixel_format format_of(png_structs& current) const {
    if (pixels_ == png_pixels::indices) return {.channels = 1};
    const bool has_colors =
        (png_get_color_type(current.png, current.info) & PNG_COLOR_MASK_COLOR) != 0;
    return {.channels = wanted_.channels == 1 && !has_colors ? 1U : 3U,
            .value_bytes =
                wanted_.value_bytes == 2 && png_get_bit_depth(current.png, current.info) == 16
                    ? 2U
                    : 1U};
  }

  void read_rows(png_structs& current, pixel_image& out) {
    const std::size_t row_bytes = out.row_bytes();
    session_.guard([&] {
      if (pixels_ == png_pixels::indices) {
        png_set_packing(current.png);  // a byte a pixel
      } else {
        png_set_palette_to_rgb(current.png);
        png_set_expand_gray_1_2_4_to_8(current.png);
        if (out.format().channels == 3) png_set_gray_to_rgb(current.png);
        if (out.format().value_bytes == 1)
          png_set_scale_16(current.png);
        else if (std::endian::native == std::endian::little)
          png_set_swap(current.png);
        png_set_strip_alpha(current.png);
      }
      const int passes = png_set_interlace_handling(current.png);
      png_read_update_info(current.png, current.info);
      if (png_get_rowbytes(current.png, current.info) != row_bytes)
        png_error(current.png, "its pixels do not become those that are wanted");
      for (int pass = 0; pass < passes; ++pass)
        for (std::uint32_t y = 0; y < out.extents().height; ++y)
          png_read_row(current.png, out.data() + y * row_bytes, nullptr);
      png_read_end(current.png, nullptr);
    });
  }

  png_pixels pixels_;
  pixel_format wanted_;
  std::shared_ptr<std::atomic<bool>> told_;
  png_session session_{{.library = "libpng"}};
};

}  // namespace

std::unique_ptr<image_reader> make_png_reader(png_pixels pixels, pixel_format wanted,
                                              std::shared_ptr<std::atomic<bool>> told) {
  return std::make_unique<png_reader>(pixels, wanted, std::move(told));
}

}  // namespace feedline::detail
