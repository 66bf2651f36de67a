#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace feedline;

namespace {

/// An array whose rows differ from one another, of `samples` rows.
std::vector<std::uint8_t> numbered_bytes(std::size_t samples, std::size_t row_bytes) {
  std::vector<std::uint8_t> bytes(samples * row_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>((i * 0x9e3779b97f4a7c15u) >> 56);
  return bytes;
}

std::vector<std::byte> row(const std::vector<std::uint8_t>& bytes, std::size_t row_bytes,
                           sample_index sample) {
  const auto all = std::as_bytes(std::span{bytes});
  const auto one = all.subspan(sample.value * row_bytes, row_bytes);
  return {one.begin(), one.end()};
}

}  // namespace

TEST_CASE("memory dataset: it keeps the dataset contract for every size of row",
          "[dataset][host]") {
  // 1, 2, 4, 8 have loops of their own; 4096 is the longest row that is prefetched.
  const std::size_t row_bytes =
      GENERATE(1u, 2u, 3u, 4u, 5u, 8u, 12u, 63u, 64u, 65u, 784u, 4096u, 4097u);
  const auto bytes = numbered_bytes(101, row_bytes);
  const auto dataset =
      make_memory_dataset({borrow("row", std::span{std::as_const(bytes)}, {row_bytes})});
  test::check_dataset_contract(
      dataset, 101, {{"row", element_type::u8, {row_bytes}}},
      [&](sample_index sample, std::size_t) { return row(bytes, row_bytes, sample); });
}

TEST_CASE("memory dataset: it keeps the dataset contract with fields of several types",
          "[dataset][host]") {
  std::vector<float> xs(60);
  std::iota(xs.begin(), xs.end(), 0.5F);
  std::vector<std::int64_t> labels(10);
  std::iota(labels.begin(), labels.end(), -3);
  const auto dataset = make_memory_dataset({own("x", xs, {2, 3}), own("label", labels)});
  test::check_dataset_contract(
      dataset, 10, {{"x", element_type::f32, {2, 3}}, {"label", element_type::i64, {}}},
      [&](sample_index sample, std::size_t place) {
        const auto bytes = place == 0
                               ? std::as_bytes(std::span{xs}).subspan(sample.value * 24, 24)
                               : std::as_bytes(std::span{labels}).subspan(sample.value * 8, 8);
        return std::vector<std::byte>(bytes.begin(), bytes.end());
      });
}

TEST_CASE("memory dataset: one of no samples is a dataset of size 0", "[dataset][host]") {
  const auto dataset = make_memory_dataset({own("x", std::vector<float>{})});
  test::check_dataset_contract(dataset, 0, {{"x", element_type::f32, {}}}, {});
}

TEST_CASE("memory dataset: the objects that it owns live as long as it does, and no longer",
          "[dataset][host]") {
  auto values =
      std::make_shared<const std::vector<std::uint16_t>>(std::vector<std::uint16_t>{7, 8});
  const std::weak_ptr<const void> watch = values;
  auto dataset = make_memory_dataset(
      {{{"x", element_type::u16, {}}, std::as_bytes(std::span{*values}), values}});
  values.reset();
  CHECK_FALSE(watch.expired());
  CHECK(test::read_sample(*dataset, sample_index{1})[0][0] == std::byte{8});
  dataset.reset();
  CHECK(watch.expired());
}

TEST_CASE("memory dataset: borrowed bytes are read where they lie", "[dataset][host]") {
  std::vector<std::uint8_t> bytes{1, 2, 3};
  const auto dataset = make_memory_dataset({borrow<std::uint8_t>("x", bytes)});
  bytes[1] = 9;  // between reads only: no loader runs
  CHECK(test::read_sample(*dataset, sample_index{1})[0][0] == std::byte{9});
}

TEST_CASE("memory dataset: its rows lie in memory, where a device can read them",
          "[dataset][host]") {
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6};
  const auto dataset =
      make_memory_dataset({borrow<std::uint8_t>("x", bytes, {2}), own("y", std::vector<float>(3))});
  const auto rows = dataset->rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].data() == std::as_bytes(std::span{bytes}).data());
  CHECK(rows[0].size() == 6);
  CHECK(rows[1].size() == 12);
}

TEST_CASE("memory dataset: a sample beyond the last is refused, not read", "[dataset][host]") {
  const auto dataset = make_memory_dataset({own("x", std::vector<std::uint8_t>{1, 2, 3})});
  try {
    (void)test::read_samples(*dataset, {sample_index{0}, sample_index{3}, sample_index{1}});
    FAIL("nothing was thrown");
  } catch (const dataset_error& error) {
    CHECK(error.sample() == 3);
    CHECK(std::string{error.what()} == "sample 3: there is no such sample: the dataset has 3");
  }
}

TEST_CASE("memory dataset: arrays that make no dataset are refused, with the reason",
          "[dataset][host]") {
  const std::vector<std::uint8_t> ten(10);
  const std::vector<std::uint8_t> nine(9);
  const auto ten_of = [&](std::string name) { return borrow<std::uint8_t>(std::move(name), ten); };

  SECTION("no field") {
    CHECK(test::message_of<usage_error>([] { (void)make_memory_dataset({}); }) ==
          "memory dataset: a dataset needs at least one field");
  }
  SECTION("two fields of one name") {
    CHECK(test::message_of<usage_error>([&] {
            (void)make_memory_dataset({ten_of("x"), ten_of("x")});
          }) ==
          "memory dataset: fields 0 and 1 are both named 'x'; a batch finds a field by its name");
  }
  SECTION("no whole number of samples") {
    CHECK(test::message_of<usage_error>(
              [&] { (void)make_memory_dataset({borrow<std::uint8_t>("x", ten, {3})}); }) ==
          "memory dataset: field x: uint8[3] takes 3 bytes a sample, but its 10 bytes are not a "
          "whole number of samples");
  }
  SECTION("a sample of no bytes") {
    CHECK_THROWS_AS(make_memory_dataset({borrow<std::uint8_t>("x", ten, {0})}), usage_error);
  }
  SECTION("numbers of samples that differ") {
    CHECK(
        test::message_of<dataset_error>([&] {
          (void)make_memory_dataset({ten_of("image"), borrow<std::uint8_t>("label", nine)});
        }) ==
        "field 'label': holds 9 samples, but field 'image' holds 10; all fields of a dataset hold "
        "the same number");
  }
}
