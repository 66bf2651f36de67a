/// Fuzz target of the checks of JPEG files that devices run: of any bytes one thread's says what
/// libjpeg says, and a warp's the same.

#include "image/jpeg/scan.hpp"
#include "image/jpeg/scan_segments.hpp"
#include "support/devices/host_warp.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

// clang-format off: each needs what stands before it.
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

using namespace feedline;

namespace {

constexpr std::uint32_t max_pixels = 1U << 20U;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "jpeg_scan_fuzz: does not hold: %s\n", what);
  std::abort();
}

[[noreturn]] void give_up(j_common_ptr info) {
  std::longjmp(*static_cast<std::jmp_buf*>(info->client_data), 1);
}

void on_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  const bool harmless =
      code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR || code == JWRN_NOT_SEQUENTIAL;
  if (level < 0 && !harmless) give_up(info);
}

/// @param row Room for a row of the image.
bool is_taken_by_libjpeg(const std::uint8_t* file, std::size_t bytes,
                         const detail::jpeg_frame& frame, std::uint8_t* row) {
  std::jmp_buf way_out;
  jpeg_error_mgr errors{};
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors);
  errors.error_exit = give_up;
  errors.emit_message = on_message;
  info.client_data = &way_out;
  if (setjmp(way_out) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file, static_cast<unsigned long>(bytes));
  jpeg_read_header(&info, TRUE);
  require(info.image_height == frame.height && info.image_width == frame.width, "its size");
  require(info.jpeg_color_space == (frame.components == 1 ? JCS_GRAYSCALE : JCS_YCbCr),
          "its colours");
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, &row, 1);
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

/// Whether there may be a table behind the scan: what it holds is libjpeg's alone to judge.
bool has_late_table(const std::vector<std::uint8_t>& file, std::size_t scan) {
  for (std::size_t i = scan; i + 1 < file.size(); ++i)
    if (file[i] == 0xFF && (file[i + 1] == 0xC4 || file[i + 1] == 0xCC || file[i + 1] == 0xDB))
      return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> file(data, data + size);
  detail::jpeg_frame frame;
  if (!detail::read_jpeg_frame(file.data(), size, frame)) return 0;
  if (std::uint32_t{frame.height} * frame.width > max_pixels) return 0;
  const auto tables = std::make_unique<detail::jpeg_scan_tables>();
  const bool is_whole = detail::is_whole_jpeg_scan(file.data(), size, frame, *tables);
  test::host_warp<4> warp;  // so few that short files are cut as well
  const auto bytes = static_cast<std::uint32_t>(size);
  require(
      detail::jpeg_scan_segments{warp, file.data(), bytes, frame, *tables}.is_whole() == is_whole,
      "what one thread says, a warp says");
  std::vector<std::uint8_t> row(std::size_t{3} * frame.width);
  const bool is_taken = is_taken_by_libjpeg(file.data(), size, frame, row.data());
  require(is_whole || !is_taken, "what libjpeg takes is whole");
  require(is_taken || !is_whole || has_late_table(file, frame.scan), "what is whole libjpeg takes");
  return 0;
}
