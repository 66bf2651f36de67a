/// How an assembly is cut into parts, which needs no GPU.

#include "cuda/assembly/assembly_plan.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "transform/operations/operations.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::message_of;

namespace {

/// An address of no memory: only its alignment counts.
std::byte* at(std::uintptr_t address) {
  return reinterpret_cast<std::byte*>(address);
}

/// Two batches of 100 samples, of one field that is copied.
struct planned_case {
  field_assembly field;
  assembly work;

  explicit planned_case(std::size_t row_bytes) {
    field.cached = at(0x100000);
    field.row_bytes = row_bytes;
    field.to_row_bytes = row_bytes;
    work.slot = at(0x200000);
    work.copy_destination = at(0x300000);
    work.batch_size = 100;
    work.batch_bytes = (row_bytes * 100 + 255) / 256 * 256;
    work.samples = 200;
    work.run_samples = 100;
    work.runs_per_batch = 1;
  }
  field_parts parts() {
    work.fields = {&field, 1};
    field_parts result;
    plan_field(work, 0, result);
    return result;
  }
  assembly_part only_part() {
    const field_parts all = parts();
    REQUIRE(all.count == 1);
    return all.parts[0];
  }
};

}  // namespace

TEST_CASE("assembly plan: vectors are as wide as rows and addresses allow", "[cuda][host]") {
  CHECK(planned_case{784}.only_part().vector_bytes == 16);
  CHECK(planned_case{40}.only_part().vector_bytes == 8);
  CHECK(planned_case{6}.only_part().vector_bytes == 2);
  CHECK(planned_case{4097}.only_part().vector_bytes == 1);
  planned_case shifted{784};
  shifted.field.cached = at(0x100004);
  CHECK(shifted.only_part().vector_bytes == 4);
  planned_case offset{784};
  offset.field.to_offset = 8;
  CHECK(offset.only_part().vector_bytes == 8);
}

TEST_CASE("assembly plan: items are the vectors of all rows, and blocks suit their number",
          "[cuda][host]") {
  const assembly_part images = planned_case{784}.only_part();
  CHECK(images.items == 200 * 49);
  CHECK(images.blocks == 10);
  const assembly_part labels = planned_case{1}.only_part();
  CHECK(labels.items == 200);
  CHECK(labels.blocks == 1);
}

TEST_CASE("assembly plan: rows in host memory are read by lines, by few blocks", "[cuda][host]") {
  planned_case images{150'528};
  images.field.cached_on_host = true;
  const assembly_part part = images.only_part();
  CHECK(part.by_lines);
  CHECK(part.row_items.divisor() == 8 * (1176 + 1));  // room to begin anywhere in a line
  CHECK(part.blocks == 8);
  planned_case labels{1};
  labels.field.cached_on_host = true;
  CHECK(!labels.only_part().by_lines);  // a line is mostly of others
  CHECK(labels.only_part().items == 200);
  planned_case short_rows{201};
  short_rows.field.cached_on_host = true;
  CHECK(!short_rows.only_part().by_lines);
  CHECK(short_rows.only_part().blocks == 16);
}

TEST_CASE("assembly plan: rows are cached by a part of their own, through the rows runs may have",
          "[cuda][host]") {
  planned_case images{784};
  images.field.keep = at(0x100000);
  images.work.samples = 130;
  images.work.run_samples = 40;
  images.work.runs_per_batch = 3;
  CHECK(images.only_part().kind == part_kind::copy);
  images.work.keeps = true;
  const field_parts parts = images.parts();
  REQUIRE(parts.count == 2);
  CHECK(parts.parts[0].kind == part_kind::keep);
  CHECK(parts.parts[0].items == (3 + 1) * 40 * 49);
  CHECK(parts.parts[1].kind == part_kind::copy);
}

TEST_CASE("assembly plan: a conversion reads host memory once, whatever goes where",
          "[cuda][host]") {
  planned_case images{3072};
  images.field.to_row_bytes = 4 * 3072;
  field_conversion& conversion = images.field.conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f32;
  conversion.channels = 3;
  conversion.height = conversion.to_height = 32;
  conversion.width = conversion.to_width = 32;
  conversion.channels_last = true;
  CHECK(images.only_part().kind == part_kind::tile);
  images.field.cached_on_host = true;
  CHECK(images.only_part().kind == part_kind::scatter);
  conversion.padding = 4;
  const field_parts parts = images.parts();
  REQUIRE(parts.count == 2);
  CHECK(parts.parts[0].kind == part_kind::scatter);
  CHECK(parts.parts[1].kind == part_kind::fill);
  conversion.padding = 0;
  images.field.cached = at(0x100001);
  CHECK(images.only_part().kind == part_kind::scatter);
  conversion.from = element_type::u16;  // now elements lie across pieces
  CHECK(images.only_part().kind == part_kind::tile);
  images.work.samples = 1000;
  CHECK(images.only_part().blocks == 64);
}

TEST_CASE(
    "assembly plan: only conversions that move no element and keep groups whole are copied "
    "straight",
    "[cuda][host]") {
  planned_case images{784};
  images.field.to_row_bytes = 4 * 784;
  field_conversion& conversion = images.field.conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f32;
  conversion.height = conversion.to_height = 28;
  conversion.width = conversion.to_width = 28;
  conversion.channels_last = true;  // the same for one channel
  CHECK(images.parts().parts[0].by.straight);
  CHECK(images.parts().parts[0].by.group_loads);
  CHECK(images.parts().parts[0].by.group_stores);
  conversion.flip_below = 1;
  CHECK(!images.parts().parts[0].by.straight);
  conversion.flip_below = 0;
  conversion.padding = 1;
  CHECK(!images.parts().parts[0].by.straight);
  conversion.padding = 0;
  conversion.to_width = 27;
  images.field.to_row_bytes = std::size_t{4} * 28 * 27;
  CHECK(!images.parts().parts[0].by.straight);
}

TEST_CASE("assembly plan: bytes that stay in their order are widened by 16 where they can be",
          "[cuda][host]") {
  planned_case images{3072};
  images.field.to_row_bytes = 2 * 3072;
  field_conversion& conversion = images.field.conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f16;
  conversion.channels = 3;
  conversion.height = conversion.to_height = 32;
  conversion.width = conversion.to_width = 32;
  conversion.per_channel = true;
  const auto kind = [&] { return images.only_part().kind; };
  CHECK(kind() == part_kind::widen);  // a plane is a multiple of 16
  CHECK(images.only_part().items == 200 * 3072 / 16);
  conversion.channels_last = conversion.to_channels_last = true;
  CHECK(kind() == part_kind::widen);  // three channels in turn
  conversion.channels = 4;
  conversion.height = conversion.to_height = 24;
  CHECK(kind() == part_kind::convert);
  conversion.per_channel = false;
  CHECK(kind() == part_kind::widen);
  conversion.flip_below = 1;
  CHECK(kind() == part_kind::tile);
  conversion.flip_below = 0;
  conversion.from = element_type::u16;
  CHECK(kind() == part_kind::convert);
  conversion.from = element_type::u8;
  images.field.to_offset = 8;
  CHECK(kind() == part_kind::convert);
}

TEST_CASE(
    "assembly plan: images whose elements move go by tiles, a warp a tile, if tiles hold them",
    "[cuda][host]") {
  planned_case images{std::size_t{256} * 256 * 3};
  images.field.to_row_bytes = std::size_t{2} * 224 * 224 * 3;
  field_conversion& conversion = images.field.conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f16;
  conversion.channels = 3;
  conversion.height = conversion.width = 256;
  conversion.to_height = conversion.to_width = 224;
  conversion.channels_last = true;
  const auto planned = [&] { return images.parts().parts[0]; };
  CHECK(planned().kind == part_kind::tile);
  CHECK(planned().items == 200 * 56);
  CHECK(planned().blocks == 200 * 56 / 8);
  CHECK(planned().by.tiles.fours == 2);
  CHECK(!planned().by.tiles.has_ends);
  images.field.to_offset = 8;  // no wider vectors there
  CHECK(planned().by.tiles.fours == 1);
  images.field.cached = at(0x100008);
  CHECK(planned().by.tiles.has_ends);
  conversion.channels = 7000;
  CHECK(planned().kind == part_kind::single);
}

TEST_CASE("assembly plan: images that are resized go by tiles, from wherever they are",
          "[cuda][host]") {
  planned_case images{std::size_t{256} * 256 * 3};
  images.field.to_row_bytes = std::size_t{2} * 224 * 224 * 3;
  field_conversion& conversion = images.field.conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = element_type::f16;
  conversion.channels = 3;
  conversion.height = conversion.width = 256;
  conversion.to_height = conversion.to_width = 224;
  conversion.resizes = true;
  const assembly_part part = images.only_part();
  CHECK(part.kind == part_kind::augment);
  CHECK(part.row_items.divisor() == 28);  // 7 beside each other, 4 below each other
  CHECK(part.blocks == 200 * 28);
  using jitter = feedline::detail::color_jitter_operation;
  const auto enable = [&](const jitter::parameters& by) {
    feedline::detail::operations::enable<jitter>(conversion.operations, by);
  };
  enable({});
  CHECK(images.only_part().kind == part_kind::steps);
  CHECK(images.only_part().blocks == 200 * 28);
  enable({.contrast = {0.5, 1.5}});                    // scales the distance from the image's mean
  CHECK(images.only_part().row_items.divisor() == 7);  // four tiles each
  CHECK(images.only_part().blocks == 200 * 7);
  feedline::detail::operations::enable<feedline::detail::gaussian_blur_operation>(
      conversion.operations, {.below = 1, .radius = 2, .sigma = {1, 2}});
  CHECK(images.only_part().kind == part_kind::wide);
  conversion.operations = {};
  images.field.cached_on_host = true;
  CHECK(images.only_part().kind == part_kind::augment);
  CHECK(images.only_part().blocks == 64);
}

TEST_CASE("assembly plan: a sample that needs all of its image is made by one item",
          "[cuda][host]") {
  feedline::detail::conversion by;
  by.item_tiles = 4;
  for (const std::uint32_t tiles : {1U, 3U, 4U, 5U, 28U, 30U}) {
    by.image_tiles = tiles;
    std::uint32_t made = 0;
    for (std::uint32_t item = 0; item < (tiles + 3) / 4; ++item) {
      const auto own = feedline::detail::tiles_of_item(by, item, false);
      CHECK(own.first == made);
      CHECK(own.first < own.end);
      made = own.end;
      const auto all = feedline::detail::tiles_of_item(by, item, true);
      CHECK(all.end - all.first == (item == 0 ? tiles : 0));
    }
    CHECK(made == tiles);
  }
}

TEST_CASE("assembly plan: numbers that a kernel cannot count are refused with a message",
          "[cuda][host]") {
  planned_case images{784};
  const auto message = [&] {
    return message_of<usage_error>([&] { (void)plan_frame(images.work); });
  };
  CHECK(message() == "[nothing was thrown]");
  images.work.samples = std::uint64_t{1} << 31;
  CHECK(message() ==
        "2147483648 samples: a slot that is assembled on a GPU has fewer than 2147483648");
  images.work.samples = 200;
  images.work.keeps = true;
  images.work.run_samples = std::uint64_t{1} << 32;
  CHECK(message().find("8589934592 rows in runs") == 0);
  images.work.keeps = false;
  images.field.row_bytes = std::size_t{1} << 31;
  CHECK(message_of<usage_error>([&] { (void)images.parts(); }).find("2147483648 bytes in a row") ==
        0);
}
