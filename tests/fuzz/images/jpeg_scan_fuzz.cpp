/// Fuzz target of the devices' JPEG decoder: one thread and lanes agree with libjpeg whether any
/// bytes are a whole file; for a whole file both decode libjpeg's coefficients. Where libjpeg finds
/// too many bytes after the scan, they decide whether these are data.

#include "support/images/jpeg_scans.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// clang-format off: each needs what stands before it.
#include <jerror.h>
#include <jpeglib.h>
// clang-format on

using namespace feedline;

namespace {

constexpr std::uint32_t max_pixels = 1U << 17U;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "jpeg_scan_fuzz: does not hold: %s\n", what);
  std::abort();
}

/// State of libjpeg's callbacks.
struct session {
  std::jmp_buf way_out;
  bool has_bytes_after_scan = false;
};

[[noreturn]] void give_up(j_common_ptr info) {
  std::longjmp(static_cast<session*>(info->client_data)->way_out, 1);
}

void on_message(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  const bool harmless =
      code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR || code == JWRN_NOT_SEQUENTIAL;
  if (level >= 0 || harmless) return;
  const int marker = info->err->msg_parm.i[1];
  const bool may_be_stray =
      code == JWRN_EXTRANEOUS_DATA && (marker < JPEG_RST0 || marker > JPEG_RST0 + 7);
  if (!may_be_stray) give_up(info);
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number != 0)
    static_cast<session*>(info->client_data)->has_bytes_after_scan = true;
}

using coefficient_vector = std::vector<std::int16_t>;

/// A decompressor that has read a file's header.
class libjpeg_file {
 public:
  libjpeg_file(const std::uint8_t* file, std::size_t bytes, session& in) {
    info.err = jpeg_std_error(&errors_);
    errors_.error_exit = give_up;
    errors_.emit_message = on_message;
    info.client_data = &in;
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, file, static_cast<unsigned long>(bytes));
  }
  libjpeg_file(const libjpeg_file&) = delete;
  libjpeg_file& operator=(const libjpeg_file&) = delete;
  ~libjpeg_file() { jpeg_destroy_decompress(&info); }

  jpeg_decompress_struct info{};

 private:
  jpeg_error_mgr errors_{};
};

enum class answer { refused, taken, taken_but_for_bytes_after_scan };

/// @param row Room for a row of the image.
answer answer_of_libjpeg(const std::uint8_t* file, std::size_t bytes,
                         const detail::jpeg_frame& frame, std::uint8_t* row) {
  session in;
  libjpeg_file reads{file, bytes, in};
  jpeg_decompress_struct& info = reads.info;
  if (setjmp(in.way_out) != 0) return answer::refused;
  jpeg_read_header(&info, TRUE);
  require(info.image_height == frame.height && info.image_width == frame.width, "its size");
  require(info.jpeg_color_space == (frame.components == 1 ? JCS_GRAYSCALE : JCS_YCbCr),
          "its colours");
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, &row, 1);
  jpeg_finish_decompress(&info);
  return in.has_bytes_after_scan ? answer::taken_but_for_bytes_after_scan : answer::taken;
}

/// Compares coefficients, multiplied by their factors, with libjpeg's of a file that it takes.
void check_coefficients(const std::uint8_t* file, std::size_t bytes,
                        const detail::jpeg_frame& frame, const coefficient_vector& seen) {
  session in;
  libjpeg_file reads{file, bytes, in};
  jpeg_decompress_struct& info = reads.info;
  if (setjmp(in.way_out) != 0) require(false, "libjpeg takes it again");
  jpeg_read_header(&info, TRUE);
  jvirt_barray_ptr* const arrays = jpeg_read_coefficients(&info);
  for (std::uint32_t i = 0; i < frame.components; ++i) {
    const std::uint32_t across = i == 0 ? frame.luma_across : 1;
    const std::uint32_t down = i == 0 ? frame.luma_down : 1;
    const std::uint32_t width = frame.mcus_across() * across;
    const std::uint32_t height = frame.mcus() / frame.mcus_across() * down;
    for (std::uint32_t y = 0; y < height; ++y) {
      const auto* const row = info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info),
                                                           arrays[i], y, 1, FALSE)[0];
      for (std::uint32_t x = 0; x < width; ++x) {
        const std::uint32_t mcu = y / down * frame.mcus_across() + x / across;
        const std::uint32_t unit =
            i == 0 ? y % down * across + x % across : frame.luma_blocks() + i - 1;
        const std::size_t block = std::size_t{mcu} * frame.blocks() + unit;
        for (std::size_t k = 0; k < detail::jpeg_block_samples; ++k) {
          const auto product =
              static_cast<std::int16_t>(row[x][k] * info.comp_info[i].quant_table->quantval[k]);
          require(seen[block * detail::jpeg_block_samples + k] == product, "coefficients");
        }
      }
    }
  }
}

/// Whether there may be a table after the scan, which only libjpeg can judge.
bool has_late_table(const std::vector<std::uint8_t>& file, std::size_t scan) {
  for (std::size_t i = scan; i + 1 < file.size(); ++i)
    if (file[i] == 0xFF && (file[i + 1] == 0xC4 || file[i + 1] == 0xCC || file[i + 1] == 0xDB))
      return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> file(data, data + size);
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  const test::jpeg_file own{{bytes, bytes + size}};
  const detail::jpeg_frame& frame = own.frame;
  if (!own.is_read) return 0;
  if (std::uint32_t{frame.height} * frame.width > max_pixels) return 0;
  const auto one = test::read_jpeg_scan<0>(own);
  const auto lanes = test::read_jpeg_scan<4>(own);  // so few that short files are cut as well
  const bool is_whole = one.is_whole;
  require(lanes.is_whole == is_whole, "what one reader says, lanes say");
  std::vector<std::uint8_t> row(std::size_t{3} * frame.width);
  const answer said = answer_of_libjpeg(file.data(), size, frame, row.data());
  require(is_whole || said != answer::taken, "what libjpeg takes is whole");
  require(!is_whole || said != answer::refused || has_late_table(file, frame.scan),
          "what is whole libjpeg takes");
  require(!is_whole || one.blocks == lanes.blocks, "what one reader decodes, lanes decode");
  if (is_whole && said != answer::refused)
    check_coefficients(file.data(), size, frame, test::jpeg_coefficients(own, one.blocks));
  return 0;
}
