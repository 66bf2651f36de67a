#include "image/place_pixels.hpp"

#include <feedline/dataset/read_counts.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace feedline::detail {
namespace {

/// Values that are written together: all of a pixel, or those of one plane.
struct placed_plane {
  std::span<const std::byte> from;
  std::span<std::byte> out;
  std::vector<std::byte> fill;  ///< one pixel

  void write(const placed_image& placed) {
    const std::size_t bytes = fill.size();
    const std::size_t row = bytes * placed.sample.width;
    const std::size_t line = bytes * placed.window.extents.width;
    const std::size_t before = bytes * placed.left;
    for (std::uint32_t y = 0; y < placed.sample.height; ++y) {
      const std::span<std::byte> to = out.subspan(y * row, row);
      const bool is_image = y >= placed.top && y - placed.top < placed.window.extents.height;
      if (!is_image) {
        write_fill(to);
        continue;
      }
      write_fill(to.first(before));
      write_fill(to.subspan(before + line));
      const auto pixels = from.subspan((y - placed.top) * line, line);
      if (placed.is_mirrored) {
        for (std::size_t at = 0; at < line; at += bytes)
          std::memcpy(to.data() + before + at, pixels.data() + line - at - bytes, bytes);
      } else {
        std::memcpy(to.data() + before, pixels.data(), line);
      }
    }
  }

 private:
  void write_fill(std::span<std::byte> to) const {
    const bool is_even = std::ranges::all_of(fill, [&](std::byte one) { return one == fill[0]; });
    if (is_even) {
      std::ranges::fill(to, fill[0]);
      return;
    }
    for (std::size_t at = 0; at < to.size(); at += fill.size())
      std::memcpy(to.data() + at, fill.data(), fill.size());
  }
};

}  // namespace

void place_pixels(std::span<const std::byte> from, const placed_image& placed, pixel_format format,
                  image_layout layout, const std::array<std::uint8_t, 3>& fill,
                  std::span<std::byte> out) {
  const std::size_t planes = layout == image_layout::chw ? format.channels : 1;
  const std::size_t values = format.channels / planes;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const std::size_t from_bytes = from.size() / planes;
    const std::size_t out_bytes = out.size() / planes;
    placed_plane one{from.subspan(plane * from_bytes, from_bytes),
                     out.subspan(plane * out_bytes, out_bytes),
                     {}};
    for (std::size_t value = 0; value < values; ++value)  // 16 bits: 255 becomes 65,535
      one.fill.insert(one.fill.end(), format.value_bytes, std::byte{fill[plane + value]});
    one.write(placed);
  }
}

void count_padding(const image_options& options, const placed_image& placed) noexcept {
  if (options.fit == image_fit::stretch) return;
  const std::uint64_t pixels = placed.sample.pixels();
  count_read({.pixels = pixels, .padded_pixels = pixels - placed.window.extents.pixels()});
}

}  // namespace feedline::detail
