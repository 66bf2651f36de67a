#include <feedline/error.hpp>
#include <feedline/ragged/decode.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/hinted_dataset.hpp"
#include "support/datasets/ragged_samples.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;

namespace {

using texts = std::vector<std::string>;

dataset_ptr values_of(const texts& samples) {
  std::vector<std::uint8_t> values;
  for (const std::string& sample : samples)
    values.insert(values.end(), sample.begin(), sample.end());
  return make_memory_dataset({own("digits", std::move(values))});
}

dataset_ptr offsets_of(const texts& samples) {
  std::vector<std::uint64_t> lengths;
  for (const std::string& sample : samples) lengths.push_back(sample.size());
  return make_memory_dataset({own("offset", test::offsets_of(lengths))});
}

ragged_dataset_ptr ragged(const texts& samples) {
  return make_ragged_dataset(values_of(samples), offsets_of(samples));
}

const texts numbers{"7", "1234", "-5", "100000", "42", "0"};
const std::vector<std::int32_t> decoded_numbers{7, 1234, -5, 100000, 42, 0};

std::vector<std::byte> expected(sample_index sample, std::size_t) {
  return test::as_byte_vector(std::vector{decoded_numbers[sample.value]});
}

const std::vector<field> one_number{{"digits", element_type::i32, {}}};

}  // namespace

TEST_CASE("decode: values of any length become a field, and keep the dataset contract",
          "[dataset][host]") {
  test::check_dataset_contract(decode(ragged(numbers), decode_decimal()), numbers.size(),
                               one_number, expected);
}

TEST_CASE("decode: values that one thread may read at a time are read so, and decoded by all",
          "[dataset][host]") {
  int reads = 0;  // no other thread writes it at the same time: ThreadSanitizer checks it
  const auto values = std::make_shared<const test::serialized_dataset>(
      test::gated(values_of(numbers), [&](auto) { ++reads; }));
  const auto dataset = decode(make_ragged_dataset(values, offsets_of(numbers)), decode_decimal());
  CHECK(dataset->concurrency() == read_concurrency::parallel);
  test::check_dataset_contract(dataset, numbers.size(), one_number, expected);
  CHECK(reads > 0);
}

TEST_CASE("decode: a value that cannot be decoded ends in an error that names its sample",
          "[dataset][host]") {
  const auto dataset = decode(ragged({"1", "2", "three"}), decode_decimal());
  CHECK(test::read_sample(*dataset, {1})[0] == test::as_byte_vector(std::vector{2}));
  std::optional<dataset_location> where;
  try {
    (void)test::read_samples(*dataset, {{0}, {2}});
  } catch (const dataset_error& error) {
    where = error.where();
  }
  REQUIRE(where);
  CHECK(where->sample == 2U);
  CHECK(where->field == "digits");
}

TEST_CASE("decode: a first value that cannot be described, or is empty, is an error at once",
          "[dataset][host]") {
  std::optional<std::uint64_t> sample;
  try {
    (void)decode(ragged({"", "1"}), decode_npy());
  } catch (const dataset_error& error) {
    sample = error.sample();
  }
  CHECK(sample == 0U);
}

TEST_CASE("decode: hints go to the values", "[dataset][host]") {
  const auto hinted = std::make_shared<test::hinted_dataset>(values_of(numbers));
  hinted->wanted = true;
  const auto dataset = decode(make_ragged_dataset(hinted, offsets_of(numbers)), decode_decimal());
  CHECK(dataset->wants_prefetch());
  const std::vector<sample_index> samples{{1}};
  dataset->prefetch(samples);
  CHECK(hinted->hints().size() == 4);  // its digits
  hinted->wanted = false;
  CHECK_FALSE(dataset->wants_prefetch());
}

TEST_CASE("decode: samples that cannot be decoded at all are refused", "[dataset][host]") {
  const auto refusal = [](ragged_dataset_ptr of, decoder_ptr by) {
    return test::message_of<usage_error>([&] { (void)decode(std::move(of), std::move(by)); });
  };
  CHECK(refusal(nullptr, decode_decimal()) == "decode: the dataset is null");
  CHECK(refusal(ragged(numbers), nullptr) == "decode: the decoder is null");
  CHECK(
      refusal(test::make_telling({1, 2}), decode_decimal()) ==
      "decode: a sample's elements are pair: int32[2], but coded values are bytes: uint8, without "
      "a shape");
}
