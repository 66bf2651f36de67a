// Over 250 lines: one reader, and the functions that libjpeg calls back.

#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/scan.hpp"
#include "image/damage_count.hpp"
#include "image/reader.hpp"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <iterator>

// Keep the order: each header needs those before it. The numbers of libjpeg's messages depend on
// its version, which jpeglib.h defines.
// clang-format off
#include <cstdio>

#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace feedline::detail {
namespace {

/// A progressive file may hold any number of passes over its pixels: normal files have about ten.
constexpr int max_scans = 500;

/// Warnings of libjpeg about headers, which change no pixel. All but one of its other warnings
/// mean that pixels are lost.
constexpr std::array harmless_warnings{static_cast<int>(JWRN_ADOBE_XFORM),
                                       static_cast<int>(JWRN_JFIF_MAJOR),
                                       static_cast<int>(JWRN_NOT_SEQUENTIAL)};

/// Data of libjpeg's callbacks, found through `client_data`.
struct jpeg_session : image_library_exit {
  bool allow_damaged = false;
  bool has_bytes_after_scan = false;  ///< before a marker that does not belong to a scan
};
static_assert(JMSG_LENGTH_MAX <= decltype(jpeg_session::words){}.size());

jpeg_session& session_of(j_common_ptr info) {
  return *static_cast<jpeg_session*>(info->client_data);
}

[[noreturn]] void give_up(j_common_ptr info) {
  jpeg_session& current = session_of(info);
  info->err->format_message(info, current.words.data());
  std::longjmp(current.way_out, 1);
}

/// Whether a warning is about bytes that may be stray: cameras and programs write such bytes
/// between segments, and after the last pixel's data. Before a restart marker they belong to the
/// scan.
bool may_be_of_stray_bytes(const jpeg_error_mgr& errors) {
  const int marker = errors.msg_parm.i[1];
  return errors.msg_code == JWRN_EXTRANEOUS_DATA && (marker < JPEG_RST0 || marker > JPEG_RST0 + 7);
}

/// Whether bytes after a file's scan are stray, and not the rest of wrong data. This is known only
/// for files that devices can decode: others may have more scans.
bool are_stray_after_scan(std::span<const std::byte> file) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  jpeg_frame frame;
  if (!read_jpeg_frame(bytes, file.size(), frame)) return false;
  const auto tables = std::make_unique<jpeg_scan_tables>();
  for (std::size_t i = 0; i < std::size(frame.huffman); ++i)
    if (frame.huffman[i] != 0) build(tables->table[i], bytes + frame.huffman[i]);
  const jpeg_scan scan{bytes, static_cast<std::uint32_t>(file.size()), frame, *tables};
  return jpeg_scan_reader{scan, {nullptr, 0}}.is_whole();
}

void on_message(j_common_ptr info, int level) {
  const bool is_warning = level < 0;
  if (!is_warning || std::ranges::count(harmless_warnings, info->err->msg_code) != 0) return;
  jpeg_session& current = session_of(info);
  if (!current.allow_damaged) {
    if (!may_be_of_stray_bytes(*info->err)) give_up(info);
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number != 0)
      current.has_bytes_after_scan = true;
  }
  if (info->err->num_warnings++ == 0 || current.has_bytes_after_scan)
    info->err->format_message(info, current.words.data());
}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= max_scans) return;
  jpeg_session& current = session_of(info);
  std::snprintf(current.words.data(), current.words.size(), "more than %d scans", max_scans);
  std::longjmp(current.way_out, 1);
}

std::uint8_t product(unsigned a, unsigned b) {
  return static_cast<std::uint8_t>((a * b + 127) / 255);
}

/// Converts CMYK to RGB, in place. The ink is taken as inverted in every file, as Pillow does:
/// Adobe's marker, which would say so, is often missing.
void to_rgb(std::uint8_t* pixels, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint8_t* from = pixels + 4 * i;
    const unsigned light = from[3];
    const std::array rgb{product(from[0], light), product(from[1], light), product(from[2], light)};
    std::memcpy(pixels + 3 * i, rgb.data(), rgb.size());
  }
}

class jpeg_reader final : public image_reader {
 public:
  explicit jpeg_reader(const image_options& options) : options_{options} {
    session_.allow_damaged = options.allow_damaged;
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = give_up;
    errors_.emit_message = on_message;
    info_.client_data = &session_;
    session_.guard([this] { jpeg_create_decompress(&info_); });
    progress_.progress_monitor = on_progress;
    info_.progress = &progress_;
  }

  ~jpeg_reader() override { jpeg_destroy_decompress(&info_); }

  resample_window read(std::span<const std::byte> file, const image_cut& cut,
                       pixel_image& out) override try {
    session_.has_bytes_after_scan = false;
    session_.guard([&] {
      jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
      jpeg_read_header(&info_, TRUE);
    });
    const image_extents original{info_.image_height, info_.image_width};
    resample_window window = cut(original);
    const bool is_cmyk = info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK;
    const bool is_grey = options_.channels == 1;
    info_.out_color_space = is_cmyk ? JCS_CMYK : is_grey ? JCS_GRAYSCALE : JCS_RGB;
    const bool is_whole = window.source.extents.pixels() == 0;
    const image_box part =
        choose_size(original, is_whole ? image_box{0, 0, original} : window.source, window.resized);
    window.source =
        read_part(part, out, {.channels = is_grey && !is_cmyk ? 1U : 3U}, is_cmyk ? 4 : 0);
    if (session_.has_bytes_after_scan && !are_stray_after_scan(file)) session_.fail();
    if (is_cmyk) to_rgb(out.data(), out.extents().pixels());
    if (errors_.num_warnings != 0) count_damaged(options_, session_.words.data());
    return window;
  } catch (...) {
    jpeg_abort_decompress(&info_);
    throw;
  }

 private:
  /// Chooses the smallest size to which libjpeg decodes at which the part is at least as large as
  /// wanted. Only the reduced sizes 1/8, 1/4 and 1/2 have vector code: 5/8, for example, takes
  /// longer than the full size.
  /// @return The part at that size.
  image_box choose_size(image_extents original, const image_box& part, image_extents resized) {
    info_.scale_denom = 8;
    for (info_.scale_num = options_.reduced_decoding ? 1 : 8;; info_.scale_num *= 2) {
      session_.guard([&] { jpeg_calc_output_dimensions(&info_); });
      const auto edge = [&](std::uint32_t at, std::uint32_t side, std::uint32_t reduced) {
        return at == side ? reduced : (at * info_.scale_num + 4) / 8;
      };
      const image_extents whole{info_.output_height, info_.output_width};
      image_box box{edge(part.top, original.height, whole.height),
                    edge(part.left, original.width, whole.width),
                    {edge(part.top + part.extents.height, original.height, whole.height),
                     edge(part.left + part.extents.width, original.width, whole.width)}};
      box.extents.height -= box.top;
      box.extents.width -= box.left;
      if (info_.scale_num == 8 ||
          (box.extents.height >= resized.height && box.extents.width >= resized.width))
        return box;
    }
  }

  /// Decodes a part of the image, and pixels beside it.
  /// @return The part, as a part of `out`.
  image_box read_part(const image_box& part, pixel_image& out, pixel_format format,
                      std::size_t room) {
    const std::size_t pixel_bytes = std::max(room, format.pixel_bytes());
    session_.guard([&] { jpeg_start_decompress(&info_); });
    if constexpr (can_skip) {
      const JDIMENSION first = begin_columns(part);
      const JDIMENSION rest = info_.output_height - part.top - part.extents.height;
      out.resize({part.extents.height + (rest == 0 ? 0 : 1), info_.output_width}, format, room);
      session_.guard([&] {
        if (part.top != 0) skip_rows(part.top);
        read_rows(out.data(), pixel_bytes, info_.output_height - rest);
        // All of the scan is read, so that damage below the part is found, too.
        if (rest > 1) skip_rows(rest - 1);
        read_rows(out.data() + pixel_bytes * info_.output_width * part.extents.height, pixel_bytes,
                  info_.output_height);
        jpeg_finish_decompress(&info_);
      });
      return {0, part.left - first, part.extents};
    } else {
      out.resize({info_.output_height, info_.output_width}, format, room);
      session_.guard([&] {
        read_rows(out.data(), pixel_bytes, info_.output_height);
        jpeg_finish_decompress(&info_);
      });
      return part;
    }
  }

#if defined(LIBJPEG_TURBO_VERSION_NUMBER) && LIBJPEG_TURBO_VERSION_NUMBER >= 2000000
  static constexpr bool can_skip = true;

  void skip_rows(JDIMENSION rows) {
    jpeg_skip_scanlines(&info_, rows);
  }

  /// Restricts decoding to the columns of a part, and to some beside it, because chroma is
  /// interpolated between neighbors.
  /// @return The first decoded column.
  JDIMENSION begin_columns(const image_box& part) {
    constexpr std::uint32_t margin = 8;
    JDIMENSION first = part.left - std::min(part.left, margin);
    const JDIMENSION end = std::min(info_.output_width, part.left + part.extents.width + margin);
    JDIMENSION width = end - first;
    if (width != info_.output_width)
      session_.guard([&] { jpeg_crop_scanline(&info_, &first, &width); });
    return first;
  }
#else
  static constexpr bool can_skip = false;

  void skip_rows(JDIMENSION) {}
  JDIMENSION begin_columns(const image_box&) {
    return 0;
  }
#endif

  /// @param to The next row. @param end Row at which it stops.
  void read_rows(std::uint8_t* to, std::size_t pixel_bytes, JDIMENSION end) {
    const std::size_t row_bytes = info_.output_width * pixel_bytes;
    while (info_.output_scanline < end) {
      std::array<JSAMPROW, 16> rows;
      const auto most = std::min(end - info_.output_scanline, static_cast<JDIMENSION>(rows.size()));
      for (JDIMENSION i = 0; i < most; ++i) rows[i] = to + i * row_bytes;
      to += jpeg_read_scanlines(&info_, rows.data(), most) * row_bytes;
    }
  }

  image_options options_;
  jpeg_session session_{{.library = "libjpeg"}};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
};

}  // namespace

std::unique_ptr<image_reader> make_jpeg_reader(const image_options& options) {
  return std::make_unique<jpeg_reader>(options);
}

}  // namespace feedline::detail
