/// How images are cut into tiles, which needs no GPU.

#include "cuda/assembly/tile_plan.hpp"

#include "support/checks/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

using namespace feedline;
using namespace feedline::detail;

namespace {

/// Three channels of bytes, last in the dataset.
field_conversion images(std::uint32_t height, std::uint32_t width) {
  field_conversion conversion;
  conversion.to = element_type::f16;
  conversion.channels = 3;
  conversion.channels_last = true;
  conversion.height = conversion.to_height = height;
  conversion.width = conversion.to_width = width;
  return conversion;
}

/// The tiles of images that there are tiles for: they cover the image, and a warp has room for
/// each.
tile_shape planned(const field_conversion& by, std::size_t alignment = 16,
                   std::size_t to_alignment = 16) {
  const auto planned = plan_tiles(by, alignment, to_alignment);
  REQUIRE(planned.has_value());
  const tile_shape tiles = planned.value_or(tile_shape{});
  const std::uint32_t planes = by.channels_last ? 1 : by.channels;
  const std::uint32_t lines = tiles.lines.divisor();
  CHECK(planes * lines * tiles.vectors.divisor() * 16 <= tile_bytes);
  CHECK(tiles.vectors.divisor() * 16 >= tiles.width * tiles.pixel_bytes + 15);
  CHECK(tiles.groups.divisor() * tiles.pixels == tiles.width);
  CHECK(tiles.across.divisor() * tiles.width >= by.to_width);
  CHECK((tiles.across.divisor() - 1) * tiles.width < by.to_width);
  CHECK(tile_count(by, tiles) / tiles.across.divisor() * lines >= by.to_height);
  CHECK((tile_count(by, tiles) / tiles.across.divisor() - 1) * lines < by.to_height);
  return tiles;
}

}  // namespace

TEST_CASE("tile plan: a tile has as many lines as fit, wherever each begins in a vector",
          "[cuda][host]") {
  field_conversion by = images(224, 224);
  CHECK(planned(by).vectors.divisor() == 43);  // 672 bytes, and 15 in front
  CHECK(planned(by).lines.divisor() == 4);
  CHECK(planned(by).groups.divisor() == 56);
  CHECK(tile_count(by, planned(by)) == 56);
  by.channels_last = false;
  CHECK(planned(by).vectors.divisor() == 15);  // vectors of one of three planes
  CHECK(planned(by).lines.divisor() == 4);
  by.from = element_type::f32;
  CHECK(planned(by).vectors.divisor() == 57);
  CHECK(planned(by).lines.divisor() == 1);
}

TEST_CASE("tile plan: tiles share out an image's lines and a line's pixels evenly",
          "[cuda][host]") {
  const field_conversion tall = images(9, 240);  // 4 would do
  CHECK(planned(tall).lines.divisor() == 3);
  const field_conversion wide = images(3, 4000);  // 2040 would
  CHECK(planned(wide).across.divisor() == 2);
  CHECK(planned(wide).width == 2000);
  CHECK(planned(wide).lines.divisor() == 1);
  const field_conversion small = images(1, 1);
  CHECK(tile_count(small, planned(small)) == 1);
}

TEST_CASE("tile plan: tiles are whole sectors of the output, if lines allow", "[cuda][host]") {
  field_conversion by = images(196, 196);  // 392 bytes a line, 5 lines fit
  CHECK(planned(by).lines.divisor() == 4);
  by.to_channels_last = true;  // 1176 bytes
  CHECK(planned(by).lines.divisor() == 4);
  by.to = element_type::f32;
  CHECK(planned(by).lines.divisor() == 4);  // two make whole ones
  by = images(196, 392);                    // 784 bytes a line, two fit
  CHECK(planned(by).lines.divisor() == 2);
  by = images(1000, 90);  // 180 bytes, 8 would; 10 fit
  CHECK(planned(by).lines.divisor() == 8);
  by = images(100, 222);  // 444 bytes: 8 would
  CHECK(planned(by).lines.divisor() == 4);
  by = images(21, 21);  // an image that fits is one tile
  CHECK(planned(by).lines.divisor() == 21);
}

TEST_CASE("tile plan: a thread makes one or two fours of pixels of three channels of bytes",
          "[cuda][host]") {
  field_conversion by = images(224, 224);
  CHECK(planned(by).fours == 2);
  CHECK(planned(by, 16, 8).fours == 1);  // no wider vectors
  CHECK(planned(by, 16, 4).fours == 0);  // pixel by pixel
  by.to_channels_last = true;
  CHECK(planned(by).fours == 2);
  CHECK(planned(by).lines.divisor() * planned(by).vectors.divisor() * 16 <= rgb_tile_bytes);
  by.to = element_type::f32;
  CHECK(planned(by).fours == 1);
  by.channels = 4;
  CHECK(planned(by).fours == 0);
  by = images(224, 224);
  by.from = element_type::i8;
  CHECK(planned(by).fours == 0);
  CHECK(planned(by).pixels == 8);

  // 49 fours a line: tiles of four lines have pairs of them, one of one line has not.
  CHECK(planned(images(196, 196)).fours == 2);
  CHECK(planned(images(198, 196)).fours == 2);
  CHECK(planned(images(197, 196)).fours == 1);
  CHECK(planned(images(2, 4004)).fours == 1);  // 1001 fours in two tiles
  CHECK(planned(images(2, 4008)).fours == 1);  // 1002 in two
  CHECK(planned(images(2, 4000)).fours == 2);
}

TEST_CASE("tile plan: groups of pixels are stored by whole vectors, or one by one",
          "[cuda][host]") {
  field_conversion by = images(32, 32);
  by.channels = 4;
  CHECK(planned(by).pixels == 8);
  CHECK(planned(by).groups.divisor() == 4);
  CHECK(planned(by, 16, 8).pixels == 4);
  CHECK(planned(by, 16, 4).pixels == 1);
  by.to_width = 28;
  CHECK(planned(by).pixels == 4);
  by.to_width = 30;
  CHECK(planned(by).pixels == 1);
  by.to = element_type::f32;
  by.to_width = 28;
  CHECK(planned(by, 16, 8).pixels == 1);
  CHECK(!planned(by).has_ends);
  CHECK(planned(by, 8).has_ends);
}

TEST_CASE("tile plan: memory for less than a pixel is no tile", "[cuda][host]") {
  field_conversion by = images(2, 9);
  by.channels = tile_bytes - 15;
  CHECK(planned(by).width == 1);
  CHECK(planned(by).across.divisor() == 9);
  by.channels = tile_bytes - 14;
  CHECK(!plan_tiles(by, 16, 16));
  by.channels_last = false;
  by.channels = tile_bytes / 16;  // a vector a plane
  CHECK(planned(by).vectors.divisor() == 1);
  by.channels = tile_bytes / 16 + 1;
  CHECK(!plan_tiles(by, 16, 16));
  by.from = element_type::u16;
  by.channels = tile_bytes / 32;
  CHECK(planned(by).width == 5);  // 8 would fit
}
