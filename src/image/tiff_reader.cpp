#include "image/reader.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <vector>

#include <tiffio.h>

#if TIFFLIB_VERSION < 20221213
#error \
    "feedline needs libtiff 4.5: a message of an older one goes to the whole process. Configure \
with FEEDLINE_WITHOUT=libtiff"
#endif

namespace feedline::detail {
namespace {

/// A file in memory, and the first message about it. libtiff finds it by a pointer.
struct tiff_session {
  std::span<const std::byte> file;
  std::uint64_t at = 0;
  std::array<char, 200> words{};

  [[noreturn]] void fail() const {
    throw image_error{std::string{"libtiff says: "} +
                      (words[0] != 0 ? words.data() : "the image cannot be read")};
  }
};

tiff_session& session_of(thandle_t handle) {
  return *static_cast<tiff_session*>(handle);
}

tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t size) {
  tiff_session& from = session_of(handle);
  if (from.at >= from.file.size() || size <= 0) return 0;
  const std::size_t count = std::min(static_cast<std::size_t>(size),
                                     from.file.size() - static_cast<std::size_t>(from.at));
  std::memcpy(to, from.file.data() + from.at, count);
  from.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) {
  return 0;
}

toff_t seek_to(thandle_t handle, toff_t offset, int from) {
  tiff_session& in = session_of(handle);
  in.at = from == SEEK_SET ? offset : (from == SEEK_CUR ? in.at : in.file.size()) + offset;
  return in.at;
}

int close_nothing(thandle_t) {
  return 0;
}

toff_t size_of(thandle_t handle) {
  return session_of(handle).file.size();
}

/// Reads in place. libtiff copies before it changes bytes.
int map_file(thandle_t handle, void** base, toff_t* size) {
  const std::span<const std::byte> file = session_of(handle).file;
  *base = const_cast<std::byte*>(file.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  *size = file.size();
  return 1;
}

void unmap_nothing(thandle_t, void*, toff_t) {}

int on_error(TIFF*, void* data, const char* /*module*/, const char* format, va_list values) {
  tiff_session& current = *static_cast<tiff_session*>(data);
  if (current.words[0] == 0)
    std::vsnprintf(current.words.data(), current.words.size(), format, values);
  return 1;  // handled: the process's own handler is not called
}

int on_warning(TIFF*, void*, const char*, const char*, va_list) {
  return 1;  // about tags, not about pixels
}

struct tiff_closer {
  void operator()(TIFF* file) const noexcept { TIFFClose(file); }
};
struct options_closer {
  void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};

/// The first image of a file. Grey and RGB in strips are read as they are stored, with 8 or 16
/// bits; others by libtiff's conversion to 8 bits.
class tiff_reader final : public image_reader {
 public:
  tiff_reader(pixel_format wanted, std::uint64_t max_pixels)
      : wanted_{wanted}, max_pixels_{max_pixels} {}

  resample_window read(std::span<const std::byte> file, const image_cut& cut,
                       pixel_image& out) override {
    tiff_session session{.file = file};
    const std::unique_ptr<TIFFOpenOptions, options_closer> options{TIFFOpenOptionsAlloc()};
    if (!options) throw image_error{"libtiff could not begin: no memory"};
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &session);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, nullptr);
    constexpr std::uint64_t widest_pixel = 8;  // four values of 16 bits
    TIFFOpenOptionsSetMaxSingleMemAlloc(
        options.get(),
        static_cast<tmsize_t>(std::min(max_pixels_, max_tiff_pixels) * widest_pixel + file.size()));
    const std::unique_ptr<TIFF, tiff_closer> tiff{
        TIFFClientOpenExt("image", "r", &session, read_bytes, write_nothing, seek_to, close_nothing,
                          size_of, map_file, unmap_nothing, options.get())};
    if (!tiff) session.fail();
    image_extents extents;
    if (TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &extents.width) == 0 ||
        TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &extents.height) == 0)
      throw image_error{"it says no width or height"};
    const resample_window window = cut(extents);
    if (!read_as_stored(*tiff, session, extents, out)) convert(*tiff, session, extents, out);
    return window;
  }

 private:
  static constexpr std::uint64_t max_tiff_pixels = std::uint64_t{1} << 32;

  static std::uint16_t number(TIFF& tiff, std::uint32_t tag) {
    std::uint16_t value = 0;
    TIFFGetFieldDefaulted(&tiff, tag, &value);
    return value;
  }

  /// @return Whether the pixels are stored so that rows of them can be read.
  bool read_as_stored(TIFF& tiff, const tiff_session& session, image_extents extents,
                      pixel_image& out) const {
    const std::uint32_t bits = number(tiff, TIFFTAG_BITSPERSAMPLE);
    const std::uint32_t samples = number(tiff, TIFFTAG_SAMPLESPERPIXEL);
    std::uint16_t meaning = 0;
    if (TIFFGetField(&tiff, TIFFTAG_PHOTOMETRIC, &meaning) == 0) return false;
    const bool is_rgb = meaning == PHOTOMETRIC_RGB;
    const std::uint32_t channels = is_rgb ? 3 : 1;
    constexpr std::uint32_t most_samples = 8;
    if ((bits != 8 && bits != 16) || TIFFIsTiled(&tiff) != 0 ||
        number(tiff, TIFFTAG_PLANARCONFIG) != PLANARCONFIG_CONTIG ||
        number(tiff, TIFFTAG_SAMPLEFORMAT) != SAMPLEFORMAT_UINT || samples > most_samples ||
        samples < channels ||
        (!is_rgb && meaning != PHOTOMETRIC_MINISBLACK && meaning != PHOTOMETRIC_MINISWHITE))
      return false;
    const std::uint32_t value_bytes = bits == 16 && wanted_.value_bytes == 2 ? 2 : 1;
    std::vector<std::uint8_t> row(std::size_t{extents.width} * samples * (bits / 8));
    if (static_cast<std::uint64_t>(TIFFScanlineSize64(&tiff)) != row.size()) return false;
    out.resize(extents, {.channels = channels, .value_bytes = value_bytes});
    std::uint8_t* to = out.data();
    for (std::uint32_t y = 0; y < extents.height; ++y) {
      if (TIFFReadScanline(&tiff, row.data(), y) != 1) session.fail();
      for (std::size_t x = 0; x < extents.width; ++x)
        for (std::size_t channel = 0; channel < channels; ++channel, to += value_bytes) {
          const std::uint8_t* const from = row.data() + (x * samples + channel) * (bits / 8);
          std::uint16_t value = *from;
          if (bits == 16) std::memcpy(&value, from, sizeof value);
          if (meaning == PHOTOMETRIC_MINISWHITE)
            value = static_cast<std::uint16_t>((bits == 16 ? 65535U : 255U) - value);
          if (value_bytes == 2)
            std::memcpy(to, &value, sizeof value);
          else  // 16 bits are rounded as those of a PNG
            *to = static_cast<std::uint8_t>(bits == 16 ? (value * 255U + 32895U) >> 16U : value);
        }
    }
    return true;
  }

  void convert(TIFF& tiff, const tiff_session& session, image_extents extents,
               pixel_image& out) const {
    const std::uint16_t kind = number(tiff, TIFFTAG_SAMPLEFORMAT);
    if (kind != SAMPLEFORMAT_UINT && kind != SAMPLEFORMAT_VOID)
      throw image_error{"its values are signed or floating point, and not read as an image's"};
    if (wanted_.value_bytes == 2 && number(tiff, TIFFTAG_BITSPERSAMPLE) == 16)
      throw image_error{
          "its 16 bits are in tiles, in planes, or no grey or RGB, and would be lost: store it in "
          "strips, or ask for u8"};
    std::uint16_t extras = 0;
    std::uint16_t* meanings = nullptr;
    TIFFGetFieldDefaulted(&tiff, TIFFTAG_EXTRASAMPLES, &extras, &meanings);
    if (extras != 0 && meanings[0] == EXTRASAMPLE_UNASSALPHA)
      throw image_error{
          "it has alpha in tiles or planes, which libtiff would mix into its colours: store it in "
          "strips, or without alpha"};
    std::array<char, 1024> words{};
    if (TIFFRGBAImageOK(&tiff, words.data()) == 0)
      throw image_error{std::string{"libtiff says: "} + words.data()};
    out.resize(extents);
    std::vector<std::uint32_t> raster(static_cast<std::size_t>(extents.pixels()));
    // The file's own orientation is asked for, so the image is not turned.
    if (TIFFReadRGBAImageOriented(&tiff, extents.width, extents.height, raster.data(),
                                  number(tiff, TIFFTAG_ORIENTATION), 1) == 0)
      session.fail();
    std::uint8_t* to = out.data();
    for (const std::uint32_t pixel : raster) {
      *to++ = static_cast<std::uint8_t>(TIFFGetR(pixel));
      *to++ = static_cast<std::uint8_t>(TIFFGetG(pixel));
      *to++ = static_cast<std::uint8_t>(TIFFGetB(pixel));
    }
  }

  pixel_format wanted_;
  std::uint64_t max_pixels_;
};

}  // namespace

std::unique_ptr<image_reader> make_tiff_reader(pixel_format wanted, std::uint64_t max_pixels) {
  return std::make_unique<tiff_reader>(wanted, max_pixels);
}

}  // namespace feedline::detail
