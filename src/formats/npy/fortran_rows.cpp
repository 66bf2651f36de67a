#include "detail/arithmetic.hpp"
#include "detail/byte_order.hpp"
#include "detail/parallel_for.hpp"
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

/// The array as a matrix: one line for each element of a sample, one column for each sample. Tiles
/// of it are independent of each other.
class transposition {
 public:
  transposition(const npy_header& header, const element_bytes& read)
      : header_{header},
        read_{read},
        element_bytes_{size_bytes(header.type)},
        columns_{header.extents.front()},
        lines_{header.row_bytes() / element_bytes_},
        width_{std::min<std::uint64_t>(columns_, tile_width_bytes / element_bytes_)},
        height_{std::min(lines_, std::max<std::uint64_t>(least_tile_height,
                                                         tile_bytes / (width_ * element_bytes_)))},
        rows_{header.payload_bytes} {}

  row_storage run() {
    const std::uint64_t across = divide_up(columns_, width_);
    parallel_for(across * divide_up(lines_, height_), [&](std::size_t tile) {
      const std::uint64_t line = tile / across * height_;
      const std::uint64_t column = tile % across * width_;
      const std::uint64_t lines = std::min(height_, lines_ - line);
      const std::uint64_t columns = std::min(width_, columns_ - column);
      switch (element_bytes_) {
        case 1:
          return transpose<std::uint8_t>(line, lines, column, columns);
        case 2:
          return transpose<std::uint16_t>(line, lines, column, columns);
        case 4:
          return transpose<std::uint32_t>(line, lines, column, columns);
        default:
          return transpose<std::uint64_t>(line, lines, column, columns);
      }
    });
    return std::move(rows_);
  }

 private:
  template <class Word>
  void transpose(std::uint64_t line, std::uint64_t lines, std::uint64_t column,
                 std::uint64_t columns) const {
    const std::vector<Word> tile = read_tile<Word>(line, lines, column, columns);
    const std::vector<std::size_t> places = places_in_row(line, lines);
    const std::size_t row_bytes = header_.row_bytes();
    std::byte* row = rows_.bytes().data() + column * row_bytes;
    for (std::uint64_t c = 0; c < columns; ++c, row += row_bytes)
      for (std::uint64_t l = 0; l < lines; ++l) {
        Word word = tile[l * columns + c];
        if constexpr (sizeof(Word) > 1)
          if (header_.is_swapped) word = reversed(word);
        std::memcpy(row + places[l], &word, sizeof word);
      }
  }

  template <class Word>
  std::vector<Word> read_tile(std::uint64_t line, std::uint64_t lines, std::uint64_t column,
                              std::uint64_t columns) const {
    std::vector<Word> tile(lines * columns);
    const auto bytes = std::as_writable_bytes(std::span{tile});
    const auto offset = [&](std::uint64_t l) { return (l * columns_ + column) * sizeof(Word); };
    if (columns == columns_) {  // the lines follow one another in the file
      read_(offset(line), bytes);
      return tile;
    }
    const std::size_t width = columns * sizeof(Word);
    for (std::uint64_t l = 0; l < lines; ++l)
      read_(offset(line + l), bytes.subspan(l * width, width));
    return tile;
  }

  /// Where in a row, in bytes, the elements belong that lines hold: lines count with the sample's
  /// first dimension as the fastest, places with its last.
  std::vector<std::size_t> places_in_row(std::uint64_t line, std::uint64_t lines) const {
    const std::span<const std::uint64_t> shape = std::span{header_.extents}.subspan(1);
    std::vector<std::size_t> places(lines);
    for (std::size_t& place : places) {
      std::uint64_t rest = line++;
      std::size_t stride = header_.row_bytes();
      for (const std::uint64_t extent : shape) {
        stride /= extent;
        place += rest % extent * stride;
        rest /= extent;
      }
    }
    return places;
  }

  const npy_header& header_;
  const element_bytes& read_;
  std::size_t element_bytes_;
  std::uint64_t columns_;  ///< samples
  std::uint64_t lines_;    ///< elements of a sample
  std::uint64_t width_;    ///< columns of a tile
  std::uint64_t height_;   ///< lines of a tile
  row_storage rows_;
};

}  // namespace

row_storage rows_of_fortran_array(const npy_header& header, const element_bytes& read) {
  return transposition{header, read}.run();
}

}  // namespace feedline::detail
