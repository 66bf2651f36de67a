/// Writes the seed corpus of jpeg_scan_fuzz: feedline_make_jpeg_scan_corpus FOLDER

#include "codecs/jpeg/frame.hpp"
#include "support/images/image_bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

using namespace feedline;
using test::jpeg_bytes;
using test::paint;

namespace {

void write(const std::filesystem::path& path, const test::byte_vector& file) {
  std::ofstream out{path, std::ios::binary};
  out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const auto image = paint(19, 27);
  write(folder / "420", jpeg_bytes(image));
  write(folder / "422", jpeg_bytes(image, {.luma_across = 2, .luma_down = 1}));
  write(folder / "440", jpeg_bytes(image, {.luma_across = 1, .luma_down = 2}));
  write(folder / "444", jpeg_bytes(image, {.luma_across = 1, .luma_down = 1}));
  write(folder / "grey", jpeg_bytes(paint(19, 27, 1)));
  write(folder / "own_codes", jpeg_bytes(image, {.quality = 20, .has_optimal_codes = true}));
  write(folder / "progressive", jpeg_bytes(image, {.is_progressive = true}));
  auto restarts = jpeg_bytes(image, {.restart_interval = 1, .has_optimal_codes = true});
  write(folder / "restarts", restarts);
  restarts.resize(restarts.size() - 40);
  write(folder / "cut", restarts);
  auto header = jpeg_bytes(image, {.quality = 20, .has_optimal_codes = true});
  detail::jpeg_frame frame;
  if (!detail::read_jpeg_frame(reinterpret_cast<const std::uint8_t*>(header.data()), header.size(),
                               frame))
    return 1;
  header.resize(frame.scan);
  write(folder / "header", header);
  auto fast = jpeg_bytes(image, {.has_optimal_codes = true});  // libjpeg's way far from the end
  fast.resize(fast.size() + 3200);
  write(folder / "bytes_behind", fast);
  return 0;
}
