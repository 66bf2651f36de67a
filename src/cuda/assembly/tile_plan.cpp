#include "cuda/assembly/tile_plan.hpp"

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace feedline::detail {
namespace {

constexpr std::uint64_t vector_bytes = widest_vector;
/// A tile's lines fill no more than this, unless the tile is one line: taller tiles were slower.
constexpr std::uint64_t short_vectors = tile_bytes / 2 / vector_bytes;
/// The unit in which device memory is written: two tiles that share a sector write it twice.
constexpr std::uint64_t sector_bytes = 32;

/// The fewest lines of the batch's image that together are whole sectors.
std::uint64_t sector_lines(const row_conversion& by) {
  const std::uint64_t line_bytes =
      by.to_width * size_bytes(by.to) * (by.to_channels_last ? by.channels : 1);
  return sector_bytes / std::gcd(sector_bytes, line_bytes);
}

/// The number of lines of each tile, at most `most`: the whole image; or else whole sectors, if
/// they fit, with tiles of about the same height.
std::uint64_t lines_of_tiles(const row_conversion& by, std::uint64_t most) {
  if (by.to_height <= most) return by.to_height;
  const std::uint64_t together = sector_lines(by) <= most ? sector_lines(by) : 1;
  const std::uint64_t units = divide_up<std::uint64_t>(by.to_height, together);
  return together * divide_up(units, divide_up(units, most / together));
}

/// How many groups of four pixels make whole vectors: two if they are side by side in each tile,
/// also across lines.
std::uint8_t fours_at_once(const row_conversion& by, const tile_shape& tiles,
                           std::size_t to_alignment) {
  const bool fit = 8 * size_bytes(by.to) <= vector_bytes && to_alignment >= vector_bytes;
  const std::uint64_t last_lines = by.to_height % tiles.lines.divisor();
  const bool all_pairs = tiles.width % 8 == 0 && by.to_width % 8 == 0;
  const bool pairs_of_tiles = tiles.across.divisor() == 1 &&
                              by.to_width * std::uint64_t{tiles.lines.divisor()} % 8 == 0 &&
                              by.to_width * last_lines % 8 == 0;
  return fit && (all_pairs || pairs_of_tiles) ? 2 : 1;
}

}  // namespace

std::optional<tile_shape> plan_tiles(const row_conversion& by, std::size_t alignment,
                                     std::size_t to_alignment) {
  const std::uint64_t width = by.to_width;
  const std::uint64_t planes = by.channels_last ? 1 : by.channels;
  const std::uint64_t pixel_bytes = size_bytes(by.from) * (by.channels_last ? by.channels : 1);
  const bool rgb = by.from == element_type::u8 && by.channels == 3;
  const std::uint64_t tile_vectors =
      (rgb && by.to_channels_last ? rgb_tile_bytes : tile_bytes) / vector_bytes;
  // A line may begin at a vector's last byte.
  const std::uint64_t max_bytes = tile_vectors / planes * vector_bytes;
  if (max_bytes < vector_bytes - 1 + pixel_bytes) return std::nullopt;
  const std::uint64_t max_pixels = (max_bytes - (vector_bytes - 1)) / pixel_bytes;

  tile_shape tiles;
  tiles.has_ends = alignment < vector_bytes;
  for (const std::uint32_t pixels : group_pixels) {
    if (rgb && pixels > 4) continue;  // two fours at once may be in two lines
    tiles.pixels = static_cast<std::uint8_t>(pixels);
    if (width % pixels == 0 && max_pixels >= pixels &&
        to_alignment >= std::min(pixels * size_bytes(by.to), vector_bytes))
      break;
  }
  const std::uint64_t pixels = tiles.pixels;
  const std::uint64_t max_groups = std::min(max_pixels, width) / pixels;
  // The fewest tiles side by side, each of about the same width.
  const std::uint64_t fewest = divide_up(width, max_groups * pixels);
  const std::uint64_t groups = divide_up(width, fewest * pixels);
  const std::uint64_t line_bytes = groups * pixels * pixel_bytes;
  const std::uint64_t vectors = divide_up(line_bytes + vector_bytes - 1, vector_bytes);
  const std::uint64_t max_lines = std::max<std::uint64_t>(short_vectors / (planes * vectors), 1);
  tiles.width = static_cast<std::uint32_t>(groups * pixels);
  tiles.pixel_bytes = static_cast<std::uint32_t>(pixel_bytes);
  tiles.across = divide_by(divide_up<std::uint64_t>(width, tiles.width));
  tiles.groups = divide_by(groups);
  tiles.vectors = divide_by(vectors);
  tiles.lines = divide_by(lines_of_tiles(by, max_lines));
  if (rgb && pixels == 4) tiles.fours = fours_at_once(by, tiles, to_alignment);
  return tiles;
}

std::uint64_t tile_count(const row_conversion& by, const tile_shape& tiles) {
  return divide_up<std::uint64_t>(by.to_height, tiles.lines.divisor()) * tiles.across.divisor();
}

}  // namespace feedline::detail
