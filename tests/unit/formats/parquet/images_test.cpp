/// Images in Parquet files: the same pixels from readers and from blocks for devices.

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/parquet_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"

#include <string>
#include <vector>

using namespace feedline;
using namespace test::parquet_files;
using test::byte_vector;

namespace {

std::shared_ptr<arrow::Array> labels(std::size_t count) {
  std::vector<std::optional<std::int64_t>> made;
  for (std::size_t i = 0; i < count; ++i) made.emplace_back(static_cast<std::int64_t>(i));
  return array_of<arrow::Int64Builder>(made);
}

std::vector<byte_vector> drawn_images(bool is_png) {
  std::vector<byte_vector> images;
  for (std::uint32_t i = 0; i < 11; ++i) {
    const auto drawn = test::paint(20 + 3 * i, 31 + 2 * i, 3, i);
    images.push_back(is_png ? test::png_bytes(drawn) : test::jpeg_bytes(drawn));
  }
  return images;
}

}  // namespace

TEST_CASE("Parquet: images as the Hub stores them, for readers and for devices",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto images = drawn_images(GENERATE(false, true));
  const std::string file = folder.write(
      "a", file_of({{"image", hub_images(images)}, {"label", labels(images.size())}}, 4));
  const image_options how{.height = 16, .width = 12};
  const auto data = open(file, {.image = how});
  CHECK(data->fields() == std::vector<field>{{"image", element_type::u8, {16, 12, 3}},
                                             {"label", element_type::i64, {}}});
  test::check_encoded(*data);
  const auto blocks = data->encoded();
  REQUIRE(blocks != nullptr);
  const auto decoder = make_image_decoder(how);
  for (std::uint64_t i = 0; i < images.size(); ++i) {
    byte_vector pixels(16 * 12 * 3);
    decoder->decode(images[i], data->fields().front(), pixels, {});
    CHECK(test::read_sample(*data, {i})[0] == pixels);
    CHECK(test::read_sample(*data, {i})[1] ==
          test::memory_of<std::int64_t>({static_cast<std::int64_t>(i)}));
  }
  const auto alone = open(file, {.fields = {"image"}, .image = how});
  test::check_encoded(*alone);
  CHECK(open(file, {.fields = {"label"}})->encoded() == nullptr);
  CHECK(open_parquet({file}, {.fields = {"image"}})->fields().size() == 2);  // bytes, and how many
}

TEST_CASE("Parquet: an image that cannot be decoded, or is null, is an error with its row",
          "[dataset][host]") {
  const test::temporary_directory folder;
  auto images = drawn_images(false);
  images[6].resize(60);
  const std::string file = folder.write("a", file_of({{"image", hub_images(images)}}, 4));
  const auto data = open(file);
  const std::string where = file + ": field 'image', sample 6: row 2 of row group 1: ";
  CHECK(test::contains(
      test::message_of<dataset_error>([&] { (void)test::read_sample(*data, {6}); }), where));
  byte_vector out(data->encoded()->max_stored_bytes(0));
  CHECK(test::contains(
      test::message_of<dataset_error>([&] { (void)data->encoded()->read(0, 6, out, {}); }), where));

  std::vector<std::optional<std::string>> values;
  for (const byte_vector& each : drawn_images(false))
    values.emplace_back(std::string{reinterpret_cast<const char*>(each.data()), each.size()});
  values[3].reset();
  const std::string with_null =
      folder.write("b", file_of({{"image", array_of<arrow::BinaryBuilder>(values)}}, 4));
  const auto some = open(with_null);
  CHECK(
      test::contains(test::message_of<dataset_error>([&] { (void)test::read_sample(*some, {3}); }),
                     with_null + ": field 'image', sample 3: row 3 of row group 0: is null"));
  out.resize(some->encoded()->max_stored_bytes(0));
  CHECK(test::contains(
      test::message_of<dataset_error>([&] { (void)some->encoded()->read(0, 3, out, {}); }),
      "row 3 of row group 0: is null"));
}
