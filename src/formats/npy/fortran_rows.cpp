#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "detail/threads.hpp"
#include "formats/npy/array.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace feedline::detail {
namespace {

/// A tile is read line by line, so its width is the size of a read; no power of two, so that the
/// lines of a column do not fall into one set of the cache.
constexpr std::size_t tile_width_bytes = (std::size_t{32} << 10) + 64;

/// Elements of a row in one tile: at least a cache line of each row is written at once.
constexpr std::uint64_t least_tile_height = 64;
constexpr std::size_t tile_bytes = std::size_t{2} << 20;

/// Part of the array as a matrix: one line for each element of a sample, one column for each
/// sample.
struct tile {
  std::uint64_t line;
  std::uint64_t lines;
  std::uint64_t column;
  std::uint64_t columns;
};

template <class Word>
std::vector<Word> read_tile(const npy_header& header, const element_bytes& read, const tile& part) {
  std::vector<Word> words(part.lines * part.columns);
  const auto bytes = std::as_writable_bytes(std::span{words});
  const std::uint64_t samples = header.extents.front();
  const std::size_t width = part.columns * sizeof(Word);
  // Whole lines follow one another in the file.
  const std::uint64_t reads = part.columns == samples ? 1 : part.lines;
  for (std::uint64_t i = 0; i < reads; ++i)
    read(((part.line + i) * samples + part.column) * sizeof(Word),
         reads == 1 ? bytes : bytes.subspan(i * width, width));
  return words;
}

/// Offset in a row, in bytes, of each line's elements: lines count with the sample's first
/// dimension as the fastest, offsets with its last.
std::vector<std::size_t> places_in_row(const npy_header& header, const tile& part) {
  std::vector<std::size_t> places(part.lines);
  for (std::uint64_t i = 0; i < part.lines; ++i) {
    std::uint64_t rest = part.line + i;
    std::size_t stride = header.row_bytes();
    for (const std::uint64_t extent : std::span{header.extents}.subspan(1)) {
      stride /= extent;
      places[i] += rest % extent * stride;
      rest /= extent;
    }
  }
  return places;
}

template <class Word>
row_storage transposed(const npy_header& header, const element_bytes& read) {
  const std::size_t row_bytes = header.row_bytes();
  const std::uint64_t columns = header.extents.front();
  const std::uint64_t lines = row_bytes / sizeof(Word);
  const std::uint64_t width = std::min<std::uint64_t>(columns, tile_width_bytes / sizeof(Word));
  const std::uint64_t height = std::min(
      lines, std::max<std::uint64_t>(least_tile_height, tile_bytes / (width * sizeof(Word))));
  const std::uint64_t across = divide_up(columns, width);
  row_storage rows{header.payload_bytes};
  // Tiles are independent of each other.
  parallel_for(across * divide_up(lines, height), [&](std::size_t number) {
    tile part{.line = number / across * height,
              .lines = 0,
              .column = number % across * width,
              .columns = 0};
    part.lines = std::min(height, lines - part.line);
    part.columns = std::min(width, columns - part.column);
    const std::vector<Word> words = read_tile<Word>(header, read, part);
    const std::vector<std::size_t> places = places_in_row(header, part);
    std::byte* row = rows.bytes().data() + part.column * row_bytes;
    for (std::uint64_t c = 0; c < part.columns; ++c, row += row_bytes)
      for (std::uint64_t l = 0; l < part.lines; ++l) {
        Word word = words[l * part.columns + c];
        if constexpr (sizeof(Word) > 1)
          if (header.is_swapped) word = reversed(word);
        std::memcpy(row + places[l], &word, sizeof word);
      }
  });
  return rows;
}

}  // namespace

row_storage rows_of_fortran_array(const npy_header& header, const element_bytes& read) {
  const std::size_t bytes = size_bytes(header.type);
  if (bytes == 1) return transposed<std::uint8_t>(header, read);
  if (bytes == 2) return transposed<std::uint16_t>(header, read);
  if (bytes == 4) return transposed<std::uint32_t>(header, read);
  return transposed<std::uint64_t>(header, read);
}

}  // namespace feedline::detail
