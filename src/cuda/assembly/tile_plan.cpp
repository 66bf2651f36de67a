#include "cuda/assembly/tile_plan.hpp"

#include "detail/arithmetic.hpp"

#include <algorithm>
#include <cstddef>

namespace feedline::detail {
namespace {

constexpr std::uint64_t vector_bytes = widest_vector;
constexpr std::uint64_t tile_vectors = tile_bytes / vector_bytes;

}  // namespace

std::optional<tile_shape> plan_tiles(const field_conversion& by, std::size_t alignment,
                                     std::size_t to_alignment) {
  const std::uint64_t width = by.to_width;
  const std::uint64_t height = by.to_height;
  const std::uint64_t planes = by.channels_last ? 1 : by.channels;
  const std::uint64_t pixel_bytes = size_bytes(by.from) * (by.channels_last ? by.channels : 1);
  // A line may begin at a vector's last byte.
  const std::uint64_t most_bytes = tile_vectors / planes * vector_bytes;
  if (most_bytes < vector_bytes - 1 + pixel_bytes) return std::nullopt;
  const std::uint64_t most_pixels = (most_bytes - (vector_bytes - 1)) / pixel_bytes;

  tile_shape tiles;
  tiles.has_ends = alignment < vector_bytes;
  for (const std::uint32_t pixels : group_pixels) {
    tiles.pixels = static_cast<std::uint8_t>(pixels);
    if (width % pixels == 0 && most_pixels >= pixels &&
        to_alignment >= std::min(pixels * size_bytes(by.to), vector_bytes))
      break;
  }
  const std::uint64_t pixels = tiles.pixels;
  const std::uint64_t most_groups = std::min(most_pixels, width) / pixels;
  // As few as can be side by side, each of about the same width.
  const std::uint64_t fewest = divide_up(width, most_groups * pixels);
  const std::uint64_t groups = divide_up(width, fewest * pixels);
  const std::uint64_t line_bytes = groups * pixels * pixel_bytes;
  const std::uint64_t vectors = divide_up(line_bytes + vector_bytes - 1, vector_bytes);
  const std::uint64_t most_lines = std::min(tile_vectors / (planes * vectors), height);
  tiles.width = static_cast<std::uint32_t>(groups * pixels);
  tiles.pixel_bytes = static_cast<std::uint32_t>(pixel_bytes);
  tiles.across = divide_by(divide_up<std::uint64_t>(width, tiles.width));
  tiles.groups = divide_by(groups);
  tiles.vectors = divide_by(vectors);
  tiles.lines = divide_by(divide_up(height, divide_up(height, most_lines)));
  return tiles;
}

std::uint64_t tile_count(const field_conversion& by, const tile_shape& tiles) {
  return divide_up<std::uint64_t>(by.to_height, tiles.lines.divisor()) * tiles.across.divisor();
}

}  // namespace feedline::detail
