#include <feedline/dataset/map.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/dataset/select.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/ragged/decode.hpp>
#include <feedline/ragged/pack.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/test_records.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;
using test::as_byte_vector;
using test::number_and_words;
using test::record_of;

namespace {

using byte_vector = std::vector<std::byte>;
using words = std::vector<std::uint16_t>;

const std::vector<words> texts{{1, 2, 3}, {}, {4}, {5, 6, 7, 8, 9}};

ragged_dataset_ptr records() {
  std::vector<byte_vector> all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    all.push_back(record_of(static_cast<std::int32_t>(10 * i), texts[i]));
  return test::make_records(all);
}

std::shared_ptr<const number_and_words> words_decoder(bool varies = false) {
  return std::make_shared<const number_and_words>(varies);
}

/// A sample's words, then 7, up to `length` elements.
byte_vector padded(sample_index sample, std::size_t length) {
  words row = texts[sample.value];
  row.resize(length, 7);
  return as_byte_vector(row);
}

template <class... Arguments>
std::string misuse(Arguments... arguments) {
  return test::message_of<usage_error>([&] { (void)decode(arguments...); });
}

std::string fault_of(const dataset& from, std::uint64_t sample) {
  return test::message_of<dataset_error>([&] { (void)test::read_sample(from, {sample}); });
}

/// Writes what a test says.
class scripted_decoder final : public record_decoder {
 public:
  using script = void (*)(record_output&);
  explicit scripted_decoder(script write) : write_{write} {}

  std::vector<described_field> describe(std::span<const std::byte>) const override {
    return {{{"a", element_type::u8}}, {{"b", element_type::u8}, true}};
  }
  void decode(std::span<const std::byte>, record_output& out,
              const sample_context&) const override {
    write_(out);
  }

 private:
  script write_;
};

}  // namespace

TEST_CASE("records: fixed and ragged fields keep the dataset contract, and the longest is found",
          "[dataset][host]") {
  const auto data = decode(records(), words_decoder(), {.pad = {{"words", {.value = 7}}}});
  test::check_dataset_contract(
      data, texts.size(),
      {{"number", element_type::i32, {}},
       {"words", element_type::u16, {5}},
       {"words_length", element_type::i32, {}},
       {"bytes", element_type::u8, {4}},
       {"bytes_length", element_type::i32, {}}},
      [](sample_index sample, std::size_t place) {
        const auto number = static_cast<std::int32_t>(10 * sample.value);
        const auto count = static_cast<std::int32_t>(place == 4 ? 4 : texts[sample.value].size());
        if (place == 1) return padded(sample, 5);
        return as_byte_vector(std::vector{place % 2 == 1 ? number : place == 0 ? number : count});
      });
}

TEST_CASE("records: a longer sample is truncated if asked for, and otherwise an error when read",
          "[dataset][host]") {
  const auto cut =
      decode(records(), words_decoder(),
             {.fields = {"words"},
              .pad = {{"words", {.length = 2, .value = 7, .longer = pad_longer::truncate}}}});
  CHECK(test::read_sample(*cut, {3}) ==
        std::vector{as_byte_vector(words{5, 6}), as_byte_vector(std::vector{2})});
  CHECK(test::read_sample(*cut, {2}) ==
        std::vector{as_byte_vector(words{4, 7}), as_byte_vector(std::vector{1})});
  const auto whole =
      decode(records(), words_decoder(), {.fields = {"words"}, .pad = {{"words", {.length = 3}}}});
  const std::string longer =
      "field 'words', sample 3: has 5 elements, more than the 3 of pad_options::length: raise it, "
      "or ask for pad_longer::truncate";
  CHECK(fault_of(*whole, 3) == longer);
  CHECK(fault_of(*select(whole, {"words_length"}), 3) == longer);
  CHECK(test::read_sample(*whole, {0})[0] == padded({0}, 3));
}

TEST_CASE("records: a record is decoded once for all fields, and only for those that are selected",
          "[dataset][host]") {
  const auto by = words_decoder();
  const auto data =
      decode(records(), by, {.pad = {{"words", {.length = 5}}, {"bytes", {.length = 4}}}});
  CHECK(by->records == 0);  // lengths are given, so there is no pass
  (void)test::read_sample(*data, {3});
  CHECK(by->records == 1);
  CHECK(by->bytes == 4);
  const auto some = select(data, {"words_length", "bytes_length", "number"});
  by->bytes = 0;
  CHECK(test::read_sample(*some, {3}) == std::vector{as_byte_vector(std::vector{5}),
                                                     as_byte_vector(std::vector{4}),
                                                     as_byte_vector(std::vector{30})});
  CHECK(by->bytes == 0);
  (void)test::read_sample(*select(some, {{"number", "n"}}), {3});
  CHECK(by->records == 3);
}

TEST_CASE("records: the pass for the longest decodes each record once, and only ragged fields",
          "[dataset][host]") {
  const auto by = words_decoder();
  const auto data = decode(records(), by);
  CHECK(by->records == static_cast<int>(texts.size()));
  CHECK(by->bytes == 0);
  CHECK(decode(records(), by, {.fields = {"number"}})->fields().size() == 1);
  CHECK(by->records == static_cast<int>(texts.size()));
}

TEST_CASE("records: one ragged field is a ragged dataset that can be packed and padded",
          "[dataset][host]") {
  const auto tokens = decode_ragged(records(), words_decoder(), "words");
  CHECK(tokens->element() == field{"words", element_type::u16, {}});
  for (std::size_t i = 0; i < texts.size(); ++i)
    CHECK(tokens->length(sample_index{i}) == texts[i].size());
  const auto rows = pack(tokens, {.capacity = 2, .longer = pack_longer::split});
  REQUIRE(rows->size() == 6);
  CHECK(test::read_sample(*rows, {1})[0] == as_byte_vector(words{3, 0}));
  CHECK(test::read_sample(*rows, {4})[0] == as_byte_vector(words{7, 8}));
  CHECK(test::read_sample(*pad(tokens, {.value = 7}), {2})[0] == padded({2}, 5));
  CHECK_NOTHROW(bucket_by_length{*tokens, {.seed = 1}});
}

TEST_CASE("records: they go through zip, map, shuffle and a loader", "[dataset][host]") {
  const auto data = select(decode(records(), words_decoder()), {"number", "words_length"});
  const auto ids = make_memory_dataset({own("id", std::vector<std::int32_t>{0, 1, 2, 3})});
  const auto sums =
      map(zip({data, ids}), {{"sum", element_type::i32}}, [](sample_index, auto in, auto out) {
        std::int32_t sum = 0;
        for (const auto& each : in) {
          std::int32_t one = 0;
          std::memcpy(&one, each.data(), sizeof one);
          sum += one;
        }
        std::memcpy(out[0].data(), &sum, sizeof sum);
      });
  loader feed{sums, shuffle{.seed = 3}, make_host_device(), {.batch_size = 4}};
  std::vector<std::int32_t> got;
  for (batch& batch : feed.epoch(0))
    for (std::size_t i = 0; i < 4; ++i) got.push_back(batch["sum"].values<std::int32_t>()[i]);
  std::ranges::sort(got);
  CHECK(got == std::vector<std::int32_t>{3, 11, 23, 38});
}

TEST_CASE("records: random decoding depends on the sample and epoch, and needs a given length",
          "[dataset][host]") {
  const auto data = decode(records(), words_decoder(true), {.fields = {"number"}});
  CHECK(data->varies_by_epoch());
  const std::vector<sample_index> sample{{2}};
  std::int32_t got = 0;
  const std::span out = std::as_writable_bytes(std::span{&got, 1});
  data->read({sample, {&out, 1}, read_context{9, 4, sample, position{0}}});
  CHECK(got == static_cast<std::int32_t>(sample_random{9, 4, 2}.u32()));
  CHECK(misuse(records(), words_decoder(true)) ==
        "decode: the longest sample of field 'words' is not known, because the decoder varies by "
        "epoch; give pad_options::length");
  CHECK(test::message_of<usage_error>(
            [] { (void)decode_ragged(records(), words_decoder(true), "words"); }) ==
        "decode_ragged: the decoder varies by epoch, but elements are not read for an epoch; use "
        "decode() with pad_options::length");
}

TEST_CASE("records: a damaged record is an error with its sample and field", "[dataset][host]") {
  const auto cut = test::make_records({record_of(1, {1}), byte_vector(3), record_of(-1, {})});
  const decode_options given{.fields = {"number", "words"}, .pad = {{"words", {.length = 1}}}};
  const auto data = decode(cut, words_decoder(), given);
  CHECK_NOTHROW(test::read_sample(*data, {0}));
  CHECK(fault_of(*data, 1) == "field 'number', sample 1: is cut short");
  CHECK(fault_of(*data, 2) == "field 'words', sample 2: the record has no value of this field");
  CHECK_NOTHROW(test::read_sample(*select(data, {"number"}), {2}));
  CHECK(test::message_of<dataset_error>([&] { (void)decode(cut, words_decoder()); }) ==
        "field 'number', sample 1: is cut short");
  CHECK(test::message_of<dataset_error>([&] {
          (void)decode(test::make_records({{}}), words_decoder());
        }) == "field 'stored', sample 0: the first record is empty");
}

TEST_CASE("records: a mistake of a decoder's is an error that says what to do", "[dataset][host]") {
  const auto mistake = [](scripted_decoder::script write) {
    const auto data = decode(records(), std::make_shared<const scripted_decoder>(write),
                             {.fields = {"b"}, .pad = {{"b", {.length = 1}}}});
    return test::message_of<usage_error>([&] { (void)test::read_sample(*data, {0}); });
  };
  CHECK(mistake([](record_output& out) { (void)out.fixed(0); }) ==
        "record_output: field 'a' is not wanted; the decoder must ask wants() or find() first");
  CHECK(mistake([](record_output& out) { (void)out.fixed(1); }) ==
        "record_output: the decoder describes field 'b' as ragged, so it is written to ragged()");
  CHECK(mistake([](record_output& out) { (void)out.ragged(0, 1); }) ==
        "record_output: the decoder describes field 'a' as fixed, so it is written to fixed()");
  CHECK(mistake([](record_output& out) { (void)out.ragged(2, 1); }) ==
        "record_output: there is no field 2: the decoder describes 2");
}

TEST_CASE("records: put writes what is wanted, cut if needed, and refuses other sizes",
          "[dataset][host]") {
  const auto data_of = [](scripted_decoder::script write, std::vector<std::string> fields) {
    return decode(records(), std::make_shared<const scripted_decoder>(write),
                  {.fields = std::move(fields),
                   .pad = {{"b", {.length = 2, .value = 7, .longer = pad_longer::truncate}}}});
  };
  const auto both = [](record_output& out) {
    const std::array<std::byte, 3> value{std::byte{1}, std::byte{2}, std::byte{3}};
    out.put(0, std::span{value}.first(1));
    out.put(1, value);
  };
  CHECK(test::read_sample(*data_of(both, {"a", "b"}), {0}) ==
        std::vector{byte_vector{std::byte{1}}, byte_vector{std::byte{1}, std::byte{2}},
                    as_byte_vector(std::vector{2})});
  CHECK(test::read_sample(*data_of(both, {"a"}), {0})[0] == byte_vector{std::byte{1}});
  const auto large = [](record_output& out) { out.put(0, std::array<std::byte, 2>{}); };
  CHECK(fault_of(*data_of(large, {"a"}), 0) ==
        "field 'a', sample 0: has 2 bytes, but a: uint8[] takes 1");
  const auto part = decode(test::make_records({byte_vector(7)}), words_decoder(),
                           {.fields = {"words"}, .pad = {{"words", {.length = 9}}}});
  CHECK(fault_of(*part, 0) ==
        "field 'words', sample 0: has 3 bytes, but words: uint16[] takes 2 for each element");
}

TEST_CASE("records: options that do not suit the decoder are refused", "[dataset][host]") {
  CHECK(misuse(ragged_dataset_ptr{}, words_decoder()) == "decode: the dataset is null");
  CHECK(misuse(records(), record_decoder_ptr{}) == "decode: the decoder is null");
  CHECK(misuse(records(), words_decoder(), decode_options{.fields = {"w"}}) ==
        "decode: there is no field 'w'; there are 'number', 'words', 'bytes'");
  CHECK(misuse(records(), words_decoder(), decode_options{.pad = {{"w", {}}}}) ==
        "decode: there is no field 'w'; there are 'number', 'words', 'bytes'");
  CHECK(misuse(records(), words_decoder(), decode_options{.pad = {{"number", {}}}}) ==
        "decode: decode_options::pad names 'number', whose values are all of one size; leave it "
        "out");
  CHECK(misuse(test::make_records({record_of(1, {})}), words_decoder()) ==
        "decode: field 'words': no sample has an element, so pad_options::length must give the "
        "length");
  class no_bytes final : public record_decoder {
    std::vector<described_field> describe(std::span<const std::byte>) const override {
      return {{{"x", element_type::u8, {0}}, true}};
    }
    void decode(std::span<const std::byte>, record_output& out,
                const sample_context&) const override {
      (void)out.ragged(0, 1);
    }
  };
  CHECK(misuse(records(), std::make_shared<const no_bytes>()) ==
        "field x: uint8[0]: a dimension is 0, so a sample would hold nothing");
  const auto refused = [](const char* name) {
    return test::message_of<usage_error>(
        [&] { (void)decode_ragged(records(), words_decoder(), name); });
  };
  CHECK(refused("number") ==
        "decode_ragged: the values of field 'number' are all of one size; decode() makes a dataset "
        "of them");
  CHECK(refused("w") ==
        "decode_ragged: there is no field 'w'; there are 'number', 'words', 'bytes'");
}
