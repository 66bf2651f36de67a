/// Images within records: the same pixels from readers and from blocks for devices.

#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/tfrecord.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/files/test_data.hpp"
#include "support/files/tfrecord_bytes.hpp"
#include "support/images/image_bytes.hpp"

#include <string>
#include <vector>

using namespace feedline;
using test::byte_vector;
using test::bytes_in;
using test::joined;
using namespace test::tfrecord;

namespace {

byte_vector record_of(const byte_vector& image, std::int64_t label) {
  return framed(example({{"image/class/label", int64_feature({label})},
                         {"image/encoded", bytes_feature({image})},
                         {"image/name", bytes_feature({bytes_in("n")})}}));
}

}  // namespace

TEST_CASE("records: JPEG and PNG files are images, for readers and for devices",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const bool is_png = GENERATE(false, true);
  byte_vector file;
  std::vector<byte_vector> images;
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto drawn = test::paint(20 + 3 * i, 31 + 2 * i, 3, i);
    images.push_back(is_png ? test::png_bytes(drawn) : test::jpeg_bytes(drawn));
    file = joined({file, record_of(images.back(), i)});
  }
  const auto path = folder.write("a", file);
  const image_options how{.height = 16, .width = 12};
  const auto data = open(path, {.fields = {"image/encoded", "image/class/label"}, .image = how});
  CHECK(data->fields() == std::vector<field>{{"image/encoded", element_type::u8, {16, 12, 3}},
                                             {"image/class/label", element_type::i64, {}}});
  test::check_encoded(*data);
  const auto blocks = data->encoded();
  REQUIRE(blocks != nullptr);
  const auto decoder = make_image_decoder(how);
  for (std::uint64_t i = 0; i < 5; ++i) {
    CHECK(test::stored_bytes(*blocks, 0, i) == images[i]);
    byte_vector pixels(16 * 12 * 3);
    decoder->decode(images[i], data->fields().front(), pixels, {});
    CHECK(test::read_sample(*data, {i})[0] == pixels);
  }
  const auto alone = open(path, {.fields = {"image/encoded"}, .image = how});
  test::check_encoded(*alone);
  CHECK(open(path, {.fields = {"image/class/label"}})->encoded() == nullptr);
}

TEST_CASE("records: an image that cannot be decoded is an error with field and sample",
          "[dataset][host]") {
  const test::temporary_directory folder;
  byte_vector cut = test::jpeg_bytes(test::paint(20, 20));
  const auto good = record_of(cut, 1);
  cut.resize(60);
  const auto path = folder.write("a", joined({good, record_of(cut, 2)}));
  const auto data = open(path, {.fields = {"image/encoded"}});
  const std::string told =
      test::message_of<dataset_error>([&] { (void)test::read_sample(*data, {1}); });
  CHECK(test::contains(told, "field 'image/encoded', sample 1, byte "));
  byte_vector out(data->encoded()->max_stored_bytes(0));
  const auto from_blocks =
      test::message_of<dataset_error>([&] { (void)data->encoded()->read(0, 1, out, {}); });
  CHECK(test::contains(from_blocks, "field 'image/encoded', sample 1, byte "));
}

TEST_CASE(
    "records: images of MDS sets, plain and compressed, are decoded alike by readers and "
    "by devices",
    "[dataset][host]") {
  const image_options how{.height = 2, .width = 2};
  for (const char* const set : {"mds", "mds_gz"}) {
    const auto data = open(test::fixture(set).string(), {.fields = {"png", "n"}, .image = how});
    CHECK(data->fields().front() == field{"png", element_type::u8, {2, 2, 3}});
    REQUIRE(data->encoded() != nullptr);
    test::check_encoded(*data);
    byte_vector pixels;
    for (unsigned k = 0; k < 12; ++k) pixels.push_back(std::byte(k + 7));
    CHECK(test::read_sample(*data, {7})[0] == pixels);
  }
}
