/// Images in tar shards as a device decodes them: the same batches and errors as readers give.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/tar.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "staging/device_row_cache.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/encoded_check.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/images/image_bytes.hpp"
#include "unit/image/decoded_images.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// The images in two shards, each with its number as label; some members stand between.
class image_shards {
 public:
  explicit image_shards(std::optional<std::uint32_t> other = {}, const byte_vector& bytes = {}) {
    for (const bool second : {false, true}) {
      tar_bytes archive;
      for (std::uint32_t i = second ? in_first : 0; i < (second ? images : in_first); ++i) {
        archive.add(key_of(i) + ".json", "{}");
        archive.add(key_of(i) + ".cls", std::to_string(i));
        archive.add(key_of(i) + ".jpg", i == other ? bytes : image_file(i));
      }
      shards_.push_back(folder_.write(second ? "b.tar" : "a.tar", archive.ended()));
      let_age(shards_.back());
    }
  }

  static std::string key_of(std::uint32_t number) { return "train/" + std::to_string(number); }
  const std::string& shard_of(std::uint32_t number) const { return shards_[number / in_first]; }
  dataset_ptr open(decoder_ptr by = make_image_decoder(small)) const {
    return open_tar(shards_, fields(std::move(by)), {.run_bytes = 4096});
  }
  static std::vector<tar_field> fields(decoder_ptr by) {
    return {{"image", {"jpg", "png"}, std::move(by)}, {"label", {"cls"}, decode_decimal()}};
  }

 private:
  static constexpr std::uint32_t in_first = 25;

  temporary_directory folder_;
  std::vector<std::string> shards_;
};

/// Text becomes its first letter and all of it.
class letters_decoder final : public record_decoder {
 public:
  std::vector<described_field> describe(std::span<const std::byte>) const override {
    return {{{"first", element_type::u8}}, {{"all", element_type::u8}, true}};
  }
  void decode(std::span<const std::byte> stored, record_output& out,
              const sample_context&) const override {
    out.put(0, stored.first(1));
    out.put(1, stored);
  }
};

std::vector<sample_index> over_and_over(std::uint64_t samples) {
  std::vector<sample_index> chosen;
  for (std::uint64_t i = 0; i < samples; ++i) chosen.push_back({i % images});
  return chosen;
}

}  // namespace

TEST_CASE("image shards: members that devices take come as they are, others as rows",
          "[dataset][host]") {
  const image_shards shards;
  const dataset_ptr data = shards.open();
  check_encoded(*data);
  const auto blocks = data->encoded();
  CHECK(blocks->rows() == 1);
  REQUIRE(blocks->steps(0).size() == 1);
  CHECK(blocks->steps(0).front() == make_image_decoder(small)->steps().front());
  CHECK(blocks->steps(1).empty());
  for (std::uint32_t i = 0; i < images; ++i) {
    const auto stored = given(data, i);
    const bool is_row = is_for_readers(i);
    CHECK(stored.skipped == (is_row ? 1 : 0));
    CHECK(stored.height == (is_row ? 0 : 20 + i));
    if (!is_row) CHECK(stored_bytes(*blocks, 0, i) == image_file(i));
  }
}

TEST_CASE(
    "image shards: blocks are there without the dataset, and where no image is there are none",
    "[dataset][host]") {
  const image_shards shards;
  const auto blocks = shards.open()->encoded();
  CHECK(stored_bytes(*blocks, 0, 2) == image_file(2));
  CHECK(decoded_block(*blocks, 1, 39, 4) ==
        read_sample(*select(shards.open(), {"label"}), {39}).front());
  CHECK(select(shards.open(), {"label"})->encoded() == nullptr);
  CHECK(shards.open(decode_raw(element_type::u8, {image_file(0).size()}))->encoded() == nullptr);
}

TEST_CASE("shards decoded on a device: batches are those that readers make", "[loader][host]") {
  const image_shards shards;
  const dataset_ptr data = shards.open();
  REQUIRE(data->chunks().samples > 1);
  const sampler order = GENERATE_COPY(as<sampler>{}, sequential{}, shuffle{.seed = 4},
                                      shuffle{.seed = 4, .within = chunks(2)}, drawn());
  const std::uint64_t batch_size = GENERATE(1U, 7U, 64U);
  const int readers = GENERATE(0, 4);
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(batch_size, readers);
  const loader_options options{.batch_size = batch_size, .readers = readers};
  check_same(data, order, options, 3);
  CHECK(deliver(data, decode_on::device, order, options).error == std::nullopt);
}

TEST_CASE("shards decoded on a device: windows and filters are those of readers, in each epoch",
          "[loader][host]") {
  const image_shards shards;
  const auto filter = GENERATE(interpolation::bilinear, interpolation::bicubic);
  const dataset_ptr data = shards.open(make_image_decoder({.height = 12,
                                                           .width = 10,
                                                           .resized_crop = crop_ranges{},
                                                           .interpolation = filter,
                                                           .reduced_decoding = false}));
  CHECK(data->varies_by_epoch());
  const loader_options options{.batch_size = 8, .readers = 2, .seed = 9};
  check_same(data, shuffle{.seed = 4}, options, 2);
  const run seen = deliver(data, decode_on::device, sequential{}, options, 2);
  CHECK(seen.fields[0] != seen.fields[seen.fields.size() / 2]);
}

TEST_CASE("shards decoded on a device: some samples, some fields, and several datasets",
          "[loader][host]") {
  const image_shards shards;
  const loader_options options{.batch_size = 6, .readers = 2};
  const sampler order = shuffle{.seed = 4};
  check_same(subset(shards.open(), {{30}, {2}, {3}, {2}, {11}, {39}, {0}}), order, options);
  check_same(select(shards.open(), {{"label"}, {"image", "picture"}}), order, options);
  check_same(select(shards.open(), {"image"}), order, options);
  check_same(concatenate({shards.open(), subset(shards.open(), sample_index{7}, 20)}), order,
             options);
}

TEST_CASE("shards decoded on a device: a bad member has the error of a read on the CPU",
          "[loader][host]") {
  const std::uint32_t number = GENERATE(0U, 1U, 13U, 39U);
  struct fault {
    const char* why;
    byte_vector bytes;
  };
  auto half = image_file(number);
  half.resize(half.size() / 2);
  const fault each =
      GENERATE_COPY(fault{"it is empty", {}}, fault{"no JPEG, PNG, WebP", byte_vector(500)},
                    fault{"decoded", half});
  const image_shards shards{number, each.bytes};
  if (number == 0) {  // looked at when shards are opened, but not decoded
    CHECK(shards.open()->size() == images);
  }
  const dataset_ptr data = shards.open();
  for (const sampler& order : {sampler{sequential{}}, sampler{shuffle{.seed = 2}}}) {
    const loader_options options{.batch_size = 4, .readers = 2};
    const run expected = deliver(data, decode_on::cpu, order, options);
    const run seen = deliver(data, decode_on::device, order, options);
    CAPTURE(number, each.why);
    REQUIRE(expected.error);
    CHECK(contains(*expected.error, each.why));
    CHECK(contains(*expected.error, shards.shard_of(number)));
    CHECK(contains(*expected.error, "sample '" + image_shards::key_of(number) + "'"));
    CHECK(seen.error == expected.error);
    CHECK(seen.fields == expected.fields);
  }
  const auto blocks = data->encoded();
  if (is_for_readers(number))  // else a device finds what is wrong
    CHECK(message_of<dataset_error>([&] { (void)given(data, number); }) ==
          message_of<dataset_error>([&] { (void)read_sample(*data, {number}); }));
}

TEST_CASE("image shards: a shard that was changed gives no block, and says so", "[dataset][host]") {
  const auto change = GENERATE(file_change::cut_to_nothing, file_change::cut_within_its_last_page,
                               file_change::grown, file_change::overwritten);
  const image_shards shards;
  const dataset_ptr data = shards.open();
  const std::uint32_t number = GENERATE(2U, 1U);  // one as stored, one decoded
  (void)given(data, number);
  const auto bytes = std::filesystem::file_size(shards.shard_of(number));
  change_file(shards.shard_of(number), change);
  const auto told = message_of<dataset_error>([&] { (void)given(data, number); });
  CHECK(told.starts_with(shards.shard_of(number) + ": " + words_for(change, bytes)));
  CHECK(given(data, 27).skipped == 0);  // a sample of the other shard
}

TEST_CASE(
    "shards decoded on a device: a shard that changes during a run ends it after good batches",
    "[loader][host]") {
  const auto change = GENERATE(file_change::cut_to_nothing, file_change::overwritten);
  const int readers = GENERATE(0, 3);
  CAPTURE(static_cast<int>(change), readers);
  const image_shards shards;
  const dataset_ptr data = subset(shards.open(), over_and_over(800));
  const std::vector<std::size_t> row_bytes{12 * 10 * 3, 4};
  const loader_options options{.batch_size = 4,
                               .readers = readers,
                               .memory = {.cache = detail::device_row_cache::bytes(row_bytes, 40)},
                               .expert = {.batches_per_slot = 1}};
  const run whole = deliver(data, decode_on::device, sequential{}, options, 1);
  REQUIRE(whole.error == std::nullopt);
  const scripted on;
  loader from = make(on, data, decode_on::device, sequential{}, options);
  run seen;
  std::optional<stage_error> failure;
  try {
    for (const batch& batch : from.epoch(0, on.stream)) {
      on.device->drain(on.stream);
      seen.fields.emplace_back(batch["image"].bytes().begin(), batch["image"].bytes().end());
      if (batch.index() == 5) change_file(shards.shard_of(0), change);
    }
  } catch (const stage_error& thrown) {
    failure.emplace(thrown);
  }
  REQUIRE(failure);
  CHECK(failure->where().path == shards.shard_of(0));
  CHECK(seen.fields.size() >= 6);
  CHECK(seen.fields.size() < 200);
  for (std::size_t i = 0; i < seen.fields.size(); ++i)
    CHECK(seen.fields[i] == whole.fields[2 * i]);  // beside labels
}

TEST_CASE("shards decoded on a device: windows of images are those that readers cut",
          "[loader][host]") {
  const image_shards shards;
  const dataset_ptr data =
      shards.open(make_image_decoder({.height = 12, .width = 10, .resized_crop = crop_ranges{}}));
  CHECK(data->varies_by_epoch());
  CHECK(given(data, 2, {.epoch = 3, .sample = {}, .position = {}}).window.height != 0);
  const int readers = GENERATE(0, 4);
  check_same(data, shuffle{.seed = 4}, {.batch_size = 7, .readers = readers, .seed = 2}, 3);
}

TEST_CASE("image shards: fields that are not of images come as rows", "[dataset][host]") {
  const image_shards shards;
  const dataset_ptr data =
      open_tar({shards.shard_of(0)}, {{"text", {"json"}, decode_raw(element_type::u8, {2})},
                                      {"label", {"cls"}, decode_decimal(element_type::u8)},
                                      {"image", {"jpg"}, make_image_decoder(small)}});
  check_encoded(*data);
  CHECK(data->encoded()->steps(0).empty());
  CHECK(data->encoded()->steps(2).size() == 1);
  CHECK(stored_bytes(*data->encoded(), 2, 2) == image_file(2));
  check_same(data, sequential{}, {.batch_size = 8, .readers = 2});
}

TEST_CASE("image shards: fields of a record come as rows beside images that devices decode",
          "[dataset][host]") {
  const image_shards shards;
  const dataset_ptr data =
      open_tar({shards.shard_of(0)}, {{.name = "text",
                                       .extensions = {"json"},
                                       .record = std::make_shared<const letters_decoder>()},
                                      {"image", {"jpg"}, make_image_decoder(small)}});
  check_encoded(*data);
  CHECK(data->encoded()->steps(1).empty());
  CHECK(data->encoded()->steps(3).size() == 1);
  check_same(data, sequential{}, {.batch_size = 8, .readers = 2});
  check_same(select(data, {"image", "all_length"}), sequential{}, {.batch_size = 8, .readers = 2});
}
