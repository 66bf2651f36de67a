/// The steps for an image's block read, which need no GPU.

#include <feedline/backend/block_decoder.hpp>

#include "cuda/decode/jpeg/batch.hpp"
#include "cuda/decode/plan.hpp"
#include "cuda/decode/program.hpp"
#include "image/resize/packed_taps.hpp"
#include "support/checks/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::detail;

namespace {

using does = decode_operation;

block_step image_step(image_row row = {.height = 10, .width = 20}) {
  return {.filter = block_filter::image, .image = row};
}

decode_program image_program(image_row row = {.height = 10, .width = 20}) {
  return make_program({.block_bytes = 600, .steps = {image_step(row)}, .max_stored_bytes = 1200},
                      10);
}

block_load image_load(std::uint16_t height, std::uint16_t width, std::uint32_t bytes = 500) {
  return {.bytes = bytes, .height = height, .width = width};
}

}  // namespace

TEST_CASE("decode program: an image is decoded to its slot, and not copied",
          "[cuda][decode][host]") {
  const decode_program program = image_program();
  REQUIRE(program.steps == 2);
  const block_load load = image_load(375, 500);
  const decode_task decodes = task_at(program, load, 0);
  CHECK(decodes.does == does::decode_image);
  CHECK(decodes.from == bytes_place::copy_destination);
  CHECK(decodes.to == bytes_place::store);
  CHECK(decodes.to_bytes == 600);
  CHECK(task_at(program, load, 1).does == does::none);
}

TEST_CASE("decode program: a finished row is copied, whatever sides it names",
          "[cuda][decode][host]") {
  const decode_program program = image_program();
  block_load load = image_load(0, 0, 600);
  load.skipped = 1;
  REQUIRE(can_decode(program, load));
  CHECK(task_at(program, load, 0).does == does::none);
  CHECK(task_at(program, load, 1).does == does::copy);
  load.bytes = 599;
  CHECK(!can_decode(program, load));
}

TEST_CASE("decode program: images that cannot be right are not worked at", "[cuda][decode][host]") {
  const decode_program program = image_program();
  CHECK(can_decode(program, image_load(1, 1, 1)));
  CHECK(!can_decode(program, image_load(1, 1, 0)));
  CHECK(can_decode(program, image_load(1, 1, 1200)));
  CHECK(!can_decode(program, image_load(1, 1, 1201)));
  CHECK(!can_decode(program, image_load(0, 5)));
  CHECK(!can_decode(program, image_load(5, 0)));
  CHECK(can_decode(program, image_load(4096, 4096)));
  CHECK(!can_decode(program, image_load(4097, 4096)));
  CHECK(can_decode(program, image_load(1, 65535)));
  const auto with_window = [](source_window window) {
    block_load load = image_load(30, 40);
    load.window = window;
    return load;
  };
  CHECK(can_decode(program, with_window({0, 0, 30, 40})));
  CHECK(can_decode(program, with_window({29, 39, 1, 1})));
  CHECK(!can_decode(program, with_window({1, 0, 30, 40})));
  CHECK(!can_decode(program, with_window({0, 65535, 30, 40})));
  CHECK(!can_decode(program, with_window({0, 0, 0, 40})));
  CHECK(!can_decode(program, with_window({0, 0, 30, 0})));
  CHECK(!can_decode(image_program({.height = 10, .width = 20, .shorter_side = 16385}),
                    image_load(1, 65535)));
}

TEST_CASE("decode program: images are within their rows", "[cuda][decode][host]") {
  const decode_program program = image_program();
  const auto placed = [&](image_in_row in_row) {
    block_load load = image_load(30, 40);
    load.in_row = in_row;
    return can_decode(program, load);
  };
  CHECK(placed({.row_height = 10, .row_width = 20}));
  CHECK(placed({.row_height = 1, .row_width = 1}));
  CHECK(!placed({.row_height = 11, .row_width = 20}));
  CHECK(!placed({.row_height = 10, .row_width = 21}));
  CHECK(!placed({.row_height = 10}));
  CHECK(!placed({.row_width = 10}));
  CHECK(placed({.top = 3, .left = 4, .height = 7, .width = 16}));
  CHECK(!placed({.top = 4, .left = 4, .height = 7, .width = 16}));
  CHECK(!placed({.top = 3, .left = 5, .height = 7, .width = 16}));
  CHECK(!placed({.top = 65535, .height = 7, .width = 16}));
  CHECK(!placed({.height = 7}));
  CHECK(!placed({.width = 7}));
  CHECK(placed({.row_height = 5, .row_width = 6, .left = 1, .height = 5, .width = 5}));
  CHECK(!placed({.row_height = 5, .row_width = 6, .left = 2, .height = 5, .width = 5}));
  // Any sides can become these, though no row is as long as the whole image would be.
  const decode_program cut = image_program({.height = 10, .width = 20, .shorter_side = 16385});
  block_load load = image_load(1, 65535);
  load.in_row = {.height = 1, .width = 20};
  CHECK(can_decode(cut, load));
}

TEST_CASE("decode program: rows that differ in size are copied as they are",
          "[cuda][decode][host]") {
  for (const bool varies : {false, true}) {
    const decode_program program = make_program(
        {.block_bytes = 600, .varies = varies, .steps = {image_step()}, .max_stored_bytes = 1200},
        10);
    block_load load = image_load(0, 0, 600);
    load.skipped = 1;
    const auto copied = [&](std::uint32_t bytes) {
      load.bytes = bytes;
      return can_decode(program, load);
    };
    CHECK(copied(600));
    CHECK(copied(599) == varies);
    CHECK(!copied(601));
    CHECK(!copied(0));
    load.bytes = 120;
    if (varies) CHECK(task_at(program, load, 1).to_bytes == 120);
  }
}

TEST_CASE("decode program: an image's steps and rows that no kernel makes are refused",
          "[cuda][decode][host]") {
  const auto refusal = [](std::vector<block_step> steps) { return refusal_of_program(steps); };
  CHECK(refusal({image_step()}).empty());
  CHECK(refusal({image_step({.height = 10, .width = 20, .shorter_side = 20})}).empty());
  CHECK(refusal({image_step(), {block_filter::deflate}}) == "images beside other steps");
  CHECK(refusal({{block_filter::deflate}, image_step()}) == "images beside other steps");
  CHECK(refusal({image_step(), image_step()}) == "images beside other steps");
  CHECK(refusal({image_step({.height = 0, .width = 20})}) == "images of rows without pixels");
  CHECK(refusal({image_step({.height = 10, .width = 0})}) == "images of rows without pixels");
  CHECK(refusal({image_step({.height = 65536, .width = 1})}) ==
        "images of rows with a side above 65535");
  CHECK(refusal({image_step({.height = 10, .width = 20, .shorter_side = 19})}) ==
        "images resized to less than their row");
  CHECK(refusal({image_step({.height = 1, .width = 1, .layout = static_cast<image_layout>(9)})}) ==
        "images of an unknown layout");
}

TEST_CASE("decode plan: images are counted, and have memory for their pixels",
          "[cuda][decode][host]") {
  const std::vector<decode_program> programs{image_program(),
                                             make_program({.block_bytes = 8, .steps = {}}, 10)};
  std::vector<block_load> loads{image_load(30, 40), image_load(30, 0), image_load(0, 0, 600),
                                image_load(5, 5)};
  loads[2].skipped = 1;
  const decode_plan plan = plan_decoding(programs, loads);
  CHECK(plan.rounds == 2);
  CHECK(plan.round[0].images == 2);
  CHECK(plan.round[0].moved == 0);
  CHECK(plan.round[1].moved == 1);
  const image_row& row = programs[0].image;
  CHECK(jpeg_memory_bytes(128, row) < jpeg_memory_bytes(256, row));
  const decoder_layout few = lay_out_decoder(programs, 2, 0);
  CHECK(few.pixel_bytes == jpeg_memory_bytes(2, row));
  CHECK(few.bytes == few.pixels + (few.pixel_bytes + 255) / 256 * 256);
  CHECK(few.scratch_bytes[0] == 0);
  // A block is a load of each field.
  CHECK(lay_out_decoder(programs, 1024, 0).pixel_bytes == jpeg_memory_bytes(512, row));
  CHECK(jpeg_memory_bytes(512, row) < jpeg_memory_bytes(1024, row));
  CHECK(lay_out_decoder(std::span{programs}.last(1), 100, 0).pixel_bytes == 0);
  const image_row large{.height = 500, .width = 700};
  const std::vector<decode_program> both{programs[0], image_program(large)};
  CHECK(jpeg_memory_bytes(2, large) > jpeg_memory_bytes(2, programs[0].image));
  CHECK(lay_out_decoder(both, 2, 0).pixel_bytes == jpeg_memory_bytes(2, large));
}

TEST_CASE("decode plan: large images have memory to be decoded together, a share of the device's",
          "[cuda][decode][host]") {
  constexpr std::size_t device_bytes = std::size_t{144} << 30;
  constexpr std::size_t share = std::size_t{3} << 30;
  const image_row row{.height = 224, .width = 224};
  std::vector<decode_program> programs{image_program(row)};
  const auto bytes_for = [&](std::size_t images, std::size_t usual, std::size_t device) {
    programs[0].usual_stored_bytes = usual;
    return lay_out_decoder(programs, images, device).pixel_bytes;
  };
  const std::size_t usual = jpeg_memory_bytes(128, row);
  CHECK(bytes_for(128, 0, device_bytes) == usual);
  CHECK(bytes_for(128, 100'000, device_bytes) == usual);
  CHECK(bytes_for(128, 4'000'000, 0) == usual);
  CHECK(bytes_for(128, 4'000'000, device_bytes) == share);
  CHECK(bytes_for(16, 4'000'000, device_bytes) == std::size_t{16} * 30 * 4'000'000);
  std::vector<jpeg_image> images(128, {.bytes = 4'000'000, .extents = {3000, 4000}});
  CHECK(place_jpeg_batch(images, usual, row) < 8);
  CHECK(place_jpeg_batch(images, share, row) > 20);
}

TEST_CASE("jpeg batch: images stand beside each other, as many as there is room for",
          "[cuda][decode][host]") {
  constexpr std::size_t table = 1024 * sizeof(jpeg_image);
  std::vector<jpeg_image> images(1100, {.extents = {17, 10}});
  const image_row row{.height = 5, .width = 6};
  // A header; three rows of 32 bytes for each of pixels; at 4:4:4 or 4:2:0 two MCUs of 16 x 16, of
  // at most 12 blocks; taps.
  constexpr std::size_t header = 512;
  constexpr std::size_t pixels = 1792;
  constexpr std::size_t taps = 8 + std::size_t{4} * (17 + 15 + 10 + 18);
  constexpr std::size_t each = header + pixels + std::size_t{24} * 128 + 256;
  static_assert(pixels >= 17UL * 96 && pixels - 17UL * 96 < 256 && taps <= 256);
  SECTION("at most 1024") {
    CHECK(place_jpeg_batch(images, 1 << 25, row) == 1024);
    CHECK(images[0].pixels_at == table + header);
    CHECK(images[0].taps_at == table + each - 256);
    CHECK(images[1023].pixels_at == table + 1023 * each + header);
  }
  SECTION("the last one exactly fits") {
    const std::size_t four = table + 4 * each - 256 + taps;
    CHECK(place_jpeg_batch(images, four, row) == 4);
    CHECK(place_jpeg_batch(images, four - 1, row) == 3);
  }
  SECTION("pixels take four bytes each, if there are enough in a row") {
    CHECK(jpeg_blocks_behind({10, 1000}) == 40192);
    CHECK(jpeg_blocks_behind({1000, 10}) == 96000);
  }
  SECTION("of any shape that is taken, one fits where one alone is decoded") {
    std::vector<image_extents> shapes{{4096, 4096}, {4095, 4097}, {4081, 4111}, {1, 65535}};
    for (std::uint32_t height = 1; height < 4096; height += 16)
      for (const std::uint32_t most : {1U << 24U, 1U << 23U})
        shapes.push_back({height, std::min(65535U, most / height)});
    for (const image_extents& shape : shapes) {
      REQUIRE(is_jpeg_decoded({.height = 1, .width = 1}, shape));
      jpeg_image image{.extents = shape};
      CAPTURE(shape.height, shape.width);
      for (const std::uint32_t side : {1U, 224U, 65535U}) {
        const image_row made{.height = side, .width = side};
        image.format = image_format::jpeg;
        CHECK(place_jpeg_batch({&image, 1}, jpeg_memory_bytes(1, made), made) == 1);
        CHECK(place_jpeg_batch({&image, 1}, jpeg_memory_bytes(1000, made), made) == 1);
        if (!is_jpeg_decoded({.height = 1, .width = 1}, shape, {}, image_format::png)) continue;
        image.format = image_format::png;
        image.bytes = 256U << 20U;
        CHECK(place_jpeg_batch({&image, 1}, jpeg_memory_bytes(1, made), made) == 1);
      }
    }
  }
  SECTION("a batch of usual ones fits") {
    images.assign(256, {.extents = {375, 500}});
    for (const std::uint32_t side : {32U, 224U, 1024U}) {
      const image_row made{.height = side, .width = side};
      CHECK(place_jpeg_batch(images, jpeg_memory_bytes(512, made), made) == 256);
    }
    images.assign(
        1024,
        {.bytes = 150'000, .extents = {256, 256}, .format = image_format::png, .pixel_bits = 24});
    const image_row small{.height = 224, .width = 224};
    CHECK(place_jpeg_batch(images, jpeg_memory_bytes(1024, small), small) == 1024);
    for (jpeg_image& image : images) image.pixel_bits = 0;
    CHECK(place_jpeg_batch(images, jpeg_memory_bytes(512, small), small) >= 512);
  }
}

TEST_CASE("jpeg batch: a PNG's memory holds rows of the pixels that its load says",
          "[cuda][decode][host]") {
  const auto rows = [](std::uint8_t bits, image_extents extents = {10, 100}) {
    return max_png_rows_bytes({.extents = extents, .pixel_bits = bits});
  };
  CHECK(rows(24) == 10 * 301);
  CHECK(rows(1) == 10 * 14);
  CHECK(rows(64) == 10 * 801);
  CHECK(rows(0) == rows(64));
  CHECK(rows(255) == rows(64));  // no load says so
  // The rows that resizing reads after the last row are in the image's own memory.
  const image_row row{.height = 1, .width = 1};
  for (const image_extents extents : {image_extents{1, 65535}, {1, 1}, {2, 3000}, {300, 1}}) {
    std::vector<jpeg_image> images(
        2, {.bytes = 70, .extents = extents, .format = image_format::png, .pixel_bits = 1});
    REQUIRE(place_jpeg_batch(images, jpeg_memory_bytes(2, row), row) == 2);
    const std::uint64_t read =
        std::uint64_t{3} * jpeg_row_bytes(extents.width) * (extents.height + max_rows_beyond);
    CHECK(images[0].pixels_at + read <= images[1].pixels_at - jpeg_header_bytes);
  }
}

TEST_CASE("jpeg batch: taps of any interpolation end before the next image's memory",
          "[cuda][decode][host]") {
  using enum interpolation;
  using packing = packed_taps::packing;
  for (const interpolation filter : {bilinear, bicubic, nearest})
    for (const auto& [extents, made] :
         {std::pair<image_extents, image_extents>{{375, 500}, {224, 224}},
          {{1000, 10}, {7, 3}},
          {{10, 1000}, {64, 65}},
          {{1, 65535}, {1, 1}},
          {{5, 6}, {300, 200}},
          {{300, 200}, {300, 200}}}) {
      CAPTURE(filter, extents.height, extents.width, made.height, made.width);
      const image_row row{.height = made.height, .width = made.width, .interpolation = filter};
      std::vector<jpeg_image> images(2, {.extents = extents});
      REQUIRE(place_jpeg_batch(images, jpeg_memory_bytes(2, row), row) == 2);
      const packed_taps rows{filter, packing::halves, extents.height, made.height, 0};
      const packed_taps columns{filter, packing::bytes, extents.width, made.width, 0};
      const std::uint64_t words = std::uint64_t{made.height} * (1 + rows.pairs()) +
                                  std::uint64_t{made.width} * (1 + columns.pairs());
      const std::uint64_t bytes = sizeof(jpeg_taps) + sizeof(std::uint32_t) * words;
      CHECK(images[0].taps_at + bytes <= images[1].pixels_at - jpeg_header_bytes);
    }
}
