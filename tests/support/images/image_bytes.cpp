#include "support/images/image_bytes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <stdexcept>

// clang-format off: each needs what stands before it.
#include <cstdio>

#include <jpeglib.h>
#include <png.h>
// clang-format on

namespace feedline::test {
namespace {

[[noreturn]] void fail(j_common_ptr info) {
  std::array<char, JMSG_LENGTH_MAX> words{};
  info->err->format_message(info, words.data());
  std::fprintf(stderr, "test support: libjpeg: %s\n", words.data());
  std::abort();  // its frames cannot be thrown through
}

[[noreturn]] void fail(png_structp, png_const_charp words) {
  std::fprintf(stderr, "test support: libpng: %s\n", words);
  std::abort();
}

byte_vector to_bytes(const unsigned char* data, std::size_t count) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  return {begin, begin + count};
}

void append(png_structp png, png_bytep data, std::size_t count) {
  auto& file = *static_cast<byte_vector*>(png_get_io_ptr(png));
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  file.insert(file.end(), begin, begin + count);
}

int png_colour_type(std::uint32_t channels, const png_style& style) {
  if (style.has_palette) return PNG_COLOR_TYPE_PALETTE;
  constexpr std::array types{PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                             PNG_COLOR_TYPE_RGB_ALPHA};
  return types.at(channels - 1);
}

/// A row in the form that libpng takes: 16-bit values doubled, values of fewer bits packed.
std::vector<std::uint8_t> png_row(const pixels& image, std::uint32_t y, const png_style& style) {
  std::vector<std::uint8_t> row;
  const std::size_t count = std::size_t{image.width} * image.channels;
  const std::uint8_t* from = image.values.data() + y * count;
  if (style.bit_depth == 16) {
    for (std::size_t i = 0; i < count; ++i) row.insert(row.end(), 2, from[i]);
  } else if (style.bit_depth == 8) {
    row.assign(from, from + count);
  } else {
    const auto bits = static_cast<unsigned>(style.bit_depth);
    const unsigned in_byte = 8 / bits;
    row.assign((count + in_byte - 1) / in_byte, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned value = from[i] >> (8 - bits);
      const auto shift = static_cast<unsigned>(8 - bits * (i % in_byte + 1));
      row[i / in_byte] = static_cast<std::uint8_t>(row[i / in_byte] | value << shift);
    }
  }
  return row;
}

}  // namespace

pixels paint(std::uint32_t height, std::uint32_t width, std::uint32_t channels,
             std::uint32_t seed) {
  std::mt19937 random{seed};
  pixels image{height, width, channels, {}};
  image.values.reserve(std::size_t{height} * width * channels);
  std::array<double, 8> wave{};
  for (double& each : wave) each = 0.02 + static_cast<double>(random() % 1000) / 8000;
  for (std::uint32_t y = 0; y < height; ++y)
    for (std::uint32_t x = 0; x < width; ++x)
      for (std::uint32_t c = 0; c < channels; ++c) {
        double value = 128 + 50 * std::sin(wave.at(c) * x + wave.at(c + 1) * y) +
                       40 * std::cos(wave.at(c + 2) * y - wave.at(c + 3) * x);
        if ((x / 13 + y / 17) % 3 == 0) value += 30;
        value += static_cast<double>(random() % 21) - 10;
        image.values.push_back(static_cast<std::uint8_t>(std::min(255.0, std::max(0.0, value))));
      }
  return image;
}

byte_vector jpeg_bytes(const pixels& image, const jpeg_style& style) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = fail;
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&info, &data, &bytes);
  info.image_width = image.width;
  info.image_height = image.height;
  info.input_components = static_cast<int>(image.channels);
  info.in_color_space = image.channels == 1   ? JCS_GRAYSCALE
                        : image.channels == 3 ? JCS_RGB
                                              : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (image.channels == 4) {
    jpeg_set_colorspace(&info, style.is_ycck ? JCS_YCCK : JCS_CMYK);
    info.write_Adobe_marker = style.has_adobe_marker ? TRUE : FALSE;
  }
  if (!style.halves_chroma) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
  if (style.is_rgb) jpeg_set_colorspace(&info, JCS_RGB);
  if (style.luma_across != 0) info.comp_info[0].h_samp_factor = style.luma_across;
  if (style.luma_down != 0) info.comp_info[0].v_samp_factor = style.luma_down;
  if (style.crosses_tables)
    for (int i = 0; i < info.num_components; ++i)
      info.comp_info[i].ac_tbl_no = 1 - info.comp_info[i].dc_tbl_no;
  info.restart_interval = style.restart_interval;
  info.optimize_coding = style.has_optimal_codes ? TRUE : FALSE;
  jpeg_set_quality(&info, style.quality, TRUE);
  if (style.is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  const std::size_t row_bytes = std::size_t{image.width} * image.channels;
  std::vector<std::uint8_t> row(row_bytes);
  for (std::uint32_t y = 0; y < image.height; ++y) {
    std::copy_n(image.values.begin() + static_cast<std::ptrdiff_t>(y * row_bytes), row_bytes,
                row.begin());
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&info, &rows, 1);
  }
  jpeg_finish_compress(&info);
  const byte_vector file = to_bytes(data, bytes);
  jpeg_destroy_compress(&info);
  std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg's
  return file;
}

pixels decode_jpeg(std::span<const std::byte> file, unsigned eighths) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = fail;
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  info.scale_num = eighths;
  info.scale_denom = 8;
  const bool is_ink = info.num_components == 4;
  info.out_color_space = is_ink ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  pixels image{info.output_height, info.output_width, is_ink ? 4U : 3U, {}};
  const std::size_t row_bytes = std::size_t{image.width} * image.channels;
  image.values.resize(row_bytes * image.height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.values.data() + info.output_scanline * row_bytes;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  image.warnings = errors.num_warnings;
  jpeg_destroy_decompress(&info);
  return image;
}

byte_vector png_bytes(const pixels& image, const png_style& style) {
  byte_vector file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, fail, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, append, nullptr);
  const int type = png_colour_type(image.channels, style);
  png_set_IHDR(png, info, image.width, image.height, style.bit_depth, type,
               style.is_interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (style.has_palette) {
    std::vector<png_color> palette;
    for (unsigned i = 0; i < 1U << static_cast<unsigned>(style.bit_depth); ++i)
      palette.push_back({palette_colour(i, 0), palette_colour(i, 1), palette_colour(i, 2)});
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  if (style.has_transparent_colour) {
    png_byte alpha = 7;
    png_color_16 colour{0, 1, 2, 3, 4};
    png_set_tRNS(png, info, style.has_palette ? &alpha : nullptr, style.has_palette ? 1 : 0,
                 style.has_palette ? nullptr : &colour);
  }
  std::string text(style.text_bytes, 'x');
  std::string key = "Comment";
  png_text comment{};
  comment.compression = PNG_TEXT_COMPRESSION_NONE;
  comment.key = key.data();
  comment.text = text.data();
  if (!text.empty()) png_set_text(png, info, &comment, 1);
  png_write_info(png, info);
  std::vector<std::vector<std::uint8_t>> rows;
  std::vector<png_bytep> places;
  for (std::uint32_t y = 0; y < image.height; ++y) rows.push_back(png_row(image, y, style));
  for (auto& row : rows) places.push_back(row.data());
  png_write_image(png, places.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

}  // namespace feedline::test
