#include "support/images/drawn_png.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

namespace feedline::test {
namespace {

void add_number(byte_vector& to, std::uint32_t number) {
  for (unsigned shift = 32; shift > 0; shift -= 8)
    to.push_back(static_cast<std::byte>(number >> (shift - 8)));
}

/// Chunks that do not change pixels; the second's checksum is wrong.
void add_others(byte_vector& file, bool has_palette) {
  const std::array<std::uint8_t, 9> some{0, 0, 0x56, 0xCE, 0, 9, 1, 2, 1};
  add_png_chunk(file, "gAMA", std::span{some}.first(4));
  add_png_chunk(file, "tEXt", some);
  file.back() ^= std::byte{1};
  add_png_chunk(file, "pHYs", some);
  add_png_chunk(file, "prVt", some);
  if (has_palette) add_png_chunk(file, "tRNS", std::span{some}.first(1));
}

}  // namespace

void add_png_chunk(byte_vector& file, const char* name, std::span<const std::uint8_t> data) {
  add_number(file, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = file.size();
  for (int i = 0; i < 4; ++i) file.push_back(static_cast<std::byte>(name[i]));
  const auto bytes = std::as_bytes(data);
  file.insert(file.end(), bytes.begin(), bytes.end());
  add_number(
      file, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(file.data() + begin),
                                             static_cast<uInt>(file.size() - begin))));
}

std::vector<std::uint8_t> zlib_stream(std::span<const std::uint8_t> plain, int level, int strategy,
                                      int window_bits) {
  z_stream state{};
  if (deflateInit2(&state, level, Z_DEFLATED, window_bits, 8, strategy) != Z_OK) std::abort();
  std::vector<std::uint8_t> stream(2 * plain.size() + 1000);  // more than zlib ever needs
  state.next_in = const_cast<Bytef*>(plain.data());
  state.avail_in = static_cast<uInt>(plain.size());
  state.next_out = stream.data();
  state.avail_out = static_cast<uInt>(stream.size());
  if (deflate(&state, Z_FINISH) != Z_STREAM_END) std::abort();
  stream.resize(state.total_out);
  deflateEnd(&state);
  return stream;
}

byte_vector join_png(const png_parts& parts) {
  byte_vector file;
  for (const int each : std::array<int, 8>{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'})
    file.push_back(static_cast<std::byte>(each));
  std::vector<std::uint8_t> header;
  for (const std::uint32_t side : {parts.width, parts.height})
    for (unsigned shift = 32; shift > 0; shift -= 8)
      header.push_back(static_cast<std::uint8_t>(side >> (shift - 8)));
  header.insert(header.end(), {parts.depth, parts.colours, 0, 0, parts.interlace});
  add_png_chunk(file, "IHDR", header);
  if (!parts.palette.empty()) add_png_chunk(file, "PLTE", parts.palette);
  if (parts.has_others) add_others(file, parts.colours == 3);
  for (std::span<const std::uint8_t> rest{parts.stream}; !rest.empty();) {
    const std::size_t bytes = std::min(rest.size(), parts.chunk_bytes);
    if (parts.has_empty_chunks) add_png_chunk(file, "IDAT", {});
    add_png_chunk(file, "IDAT", rest.first(bytes));
    rest = rest.subspan(bytes);
  }
  if (parts.has_others) add_others(file, false);
  add_png_chunk(file, "IEND", {});
  return file;
}

png_parts draw_png(std::mt19937& random, std::uint32_t largest_side) {
  constexpr std::array<std::pair<std::uint8_t, std::uint8_t>, 15> kinds{{{0, 1},
                                                                         {0, 2},
                                                                         {0, 4},
                                                                         {0, 8},
                                                                         {0, 16},
                                                                         {2, 8},
                                                                         {2, 16},
                                                                         {3, 1},
                                                                         {3, 2},
                                                                         {3, 4},
                                                                         {3, 8},
                                                                         {4, 8},
                                                                         {4, 16},
                                                                         {6, 8},
                                                                         {6, 16}}};
  const auto below = [&](std::size_t count) { return random() % count; };
  png_parts parts;
  std::tie(parts.colours, parts.depth) = kinds[below(kinds.size())];
  parts.height = 1 + static_cast<std::uint32_t>(below(largest_side));
  parts.width = 1 + static_cast<std::uint32_t>(below(largest_side));
  if (parts.colours == 3 || (parts.colours % 4 == 2 && below(4) == 0))
    for (std::size_t i = 1 + below(std::size_t{1} << std::min<unsigned>(parts.depth, 8)); i > 0;
         --i)
      for (int channel = 0; channel < 3; ++channel)
        parts.palette.push_back(static_cast<std::uint8_t>(random()));
  constexpr std::array<std::size_t, 7> samples{1, 0, 3, 1, 2, 0, 4};
  const std::size_t row_bytes = (samples[parts.colours] * parts.depth * parts.width + 7) / 8;
  const std::size_t kind = below(3);
  const std::uint8_t only = static_cast<std::uint8_t>(below(5));
  for (std::uint32_t y = 0; y < parts.height; ++y) {
    parts.filtered.push_back(kind == 0 ? only : static_cast<std::uint8_t>(below(5)));
    for (std::size_t i = 0; i < row_bytes; ++i)
      parts.filtered.push_back(static_cast<std::uint8_t>(kind == 1       ? random()
                                                         : below(8) == 0 ? random()
                                                                         : (i * y) % 7));
  }
  int window_bits = below(3) == 0 ? 9 + static_cast<int>(below(6)) : 15;
  if (parts.filtered.size() > std::size_t{1} << window_bits) window_bits = 15;
  parts.stream = zlib_stream(parts.filtered, static_cast<int>(below(10)),
                             static_cast<int>(below(5)), window_bits);
  constexpr std::array<std::size_t, 4> chunks{1000, 8192, 60'000, 37};
  parts.chunk_bytes = chunks[below(chunks.size())];
  if (parts.stream.size() > 1000 * parts.chunk_bytes) parts.chunk_bytes = 8192;  // for devices
  parts.has_empty_chunks = below(4) == 0;
  parts.has_others = below(3) == 0;
  return parts;
}

}  // namespace feedline::test
