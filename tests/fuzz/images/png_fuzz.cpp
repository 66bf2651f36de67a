/// Fuzz target of the parts that devices decode PNGs by. An input is a file whose chunks' checksums
/// are made right first, so that their data is reached. Files that are decoded have libpng's pixels
/// in each format.

#include "support/images/png_pixels.hpp"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace feedline;

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "png_fuzz: does not hold: %s\n", what);
  std::abort();
}

void correct_checksums(test::byte_vector& file) {
  auto* const data = reinterpret_cast<std::uint8_t*>(file.data());
  const auto bytes = static_cast<std::uint32_t>(file.size());
  detail::png_chunk chunk{};
  for (std::uint32_t at = detail::png_chunks_at; detail::read_png_chunk(data, bytes, at, chunk);
       at = chunk.end()) {
    const auto checksum = static_cast<std::uint32_t>(crc32(0, data + at + 4, chunk.bytes + 4));
    for (std::uint32_t i = 0; i < 4; ++i)
      data[chunk.end() - 4 + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::byte_vector file(size);
  if (size != 0) std::memcpy(file.data(), data, size);
  correct_checksums(file);
  detail::png_frame frame;
  if (!detail::read_png_frame(reinterpret_cast<const std::uint8_t*>(file.data()), size, frame))
    return 0;
  if (frame.filtered_bytes() > (1U << 20U)) return 0;  // a bomb
  const auto seen = test::decode_png_by_parts<32>(file);
  const auto alone = test::decode_png_by_parts<1>(file);
  require(seen.has_value() == alone.has_value(), "the warp does not matter");
  if (!seen) return 0;
  require(seen->values == alone->values, "the warp does not matter to pixels");

  std::vector<detail::png_values> kinds{
      {}, {.is_grey = true}, {.is_wide = true}, {.is_grey = true, .is_wide = true}};
  if (frame.has_indices()) kinds.push_back({.is_grey = true, .is_index = true});
  for (const detail::png_values& wanted : kinds) {
    const auto made = test::png_values_by_parts<32>(file, wanted);
    require(made.has_value(), "the format of pixels does not matter");
    require(made->values == test::png_values_by_reader(file, wanted), "pixels are libpng's");
  }
  return 0;
}
