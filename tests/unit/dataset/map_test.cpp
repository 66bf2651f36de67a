#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;

namespace {

using inputs = std::span<const std::span<const std::byte>>;
using outputs = std::span<const std::span<std::byte>>;

/// Fields the other way round, and the row backwards, so that shape and order change.
void reverse(sample_index, inputs in, outputs out) {
  std::reverse_copy(in[1].begin(), in[1].end(), out[0].begin());
  std::copy(in[0].begin(), in[0].end(), out[1].begin());
}

}  // namespace

TEST_CASE("map: the transform's output keeps the dataset contract", "[dataset][host]") {
  // 8,000-byte rows: a run is more than one piece, and the last piece is not full.
  const std::size_t row_bytes = GENERATE(29u, 8'000u);
  const std::uint64_t samples = row_bytes == 29 ? 100 : 40;
  const auto whole = test::make_identity_dataset(samples, row_bytes);
  const std::vector<field> fields{{"backwards", element_type::u8, {row_bytes}},
                                  {"id", element_type::u64, {}}};
  test::check_dataset_contract(map(whole, fields, reverse), samples, fields,
                               [whole](sample_index sample, std::size_t place) {
                                 auto values = test::read_sample(*whole, sample);
                                 std::reverse(values[1].begin(), values[1].end());
                                 return place == 0 ? values[1] : values[0];
                               });
}

TEST_CASE("map: the transform sees each sample's index, and values aligned for their type",
          "[dataset][host]") {
  // A one-byte field before the doubles would shift them, were fields packed.
  const auto whole = make_memory_dataset({own("label", std::vector<std::uint8_t>{0, 1, 2, 3, 4}),
                                          own("x", std::vector<double>{0, 10, 20, 30, 40})});
  const auto sums =
      map(whole, {{"sum", element_type::f64, {}}}, [](sample_index sample, inputs in, outputs out) {
        const auto* x = reinterpret_cast<const double*>(in[1].data());
        if (reinterpret_cast<std::uintptr_t>(x) % alignof(double) != 0)
          throw std::runtime_error{"not aligned"};
        const double sum = *x + static_cast<double>(sample.value);
        std::memcpy(out[0].data(), &sum, sizeof sum);
      });
  const auto read = test::read_samples(*sums, {{4}, {1}, {3}});
  std::vector<double> values(3);
  std::memcpy(values.data(), read[0].data(), read[0].size());
  CHECK(values == std::vector<double>{44, 11, 33});
}

TEST_CASE("map: it may be read as the inner dataset may be", "[dataset][host]") {
  const auto inner = test::make_identity_dataset(5, 8);
  const auto turns = std::make_shared<const test::serialized_dataset>(inner);
  CHECK(map(inner, inner->fields(), reverse)->concurrency() == read_concurrency::parallel);
  CHECK(map(turns, inner->fields(), reverse)->concurrency() == read_concurrency::serialized);
}

TEST_CASE("map: no dataset, no transform, no fields and fields of one name are refused",
          "[dataset][host]") {
  const auto inner = test::make_identity_dataset(5, 8);
  const field id{"id", element_type::u64, {}};
  const auto refusal = [](dataset_ptr of, std::vector<field> fields, sample_transform transform) {
    return test::message_of<usage_error>(
        [&] { (void)map(std::move(of), std::move(fields), std::move(transform)); });
  };
  CHECK(refusal(nullptr, {id}, reverse) == "map: the dataset is null");
  CHECK(refusal(inner, {id}, nullptr) == "map: the transform is empty");
  CHECK(refusal(inner, {}, reverse) == "map: a dataset needs at least one field");
  CHECK(refusal(inner, {id, id}, reverse) ==
        "map: fields 0 and 1 are both named 'id'; a batch finds a field by its name");
  CHECK(refusal(inner,
                {{"a", element_type::u8, {UINT64_MAX / 2}}, {"b", element_type::u8, {UINT64_MAX}}},
                reverse) == "map: the bytes of a sample's fields do not fit in 64 bits");
}

TEST_CASE("map: a transform's exception is reported with the sample that it was given",
          "[dataset][host]") {
  const auto inner = test::make_identity_dataset(10, 8);
  const auto mapped = map(inner, inner->fields(), [](sample_index sample, inputs, outputs) {
    if (sample.value == 7) throw std::runtime_error{"no face found"};
    if (sample.value == 8) throw 8;
  });
  try {
    (void)test::read_samples(*mapped, {{1}, {7}, {2}});
    FAIL("nothing was thrown");
  } catch (const dataset_error& error) {
    CHECK(error.sample() == 7);
    CHECK(std::string{error.what()} == "sample 7: the map's transform threw: no face found");
    CHECK_THROWS_AS(std::rethrow_if_nested(error), std::runtime_error);
  }
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*mapped, {8}); }) ==
        "sample 8: the map's transform threw: an exception that is no std::exception");
}

TEST_CASE("map: an error of the inner dataset comes through as it is", "[dataset][host]") {
  const auto inner = test::make_damaged(test::make_identity_dataset(10, 8), sample_index{3});
  const auto mapped = map(inner, inner->fields(), reverse);
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*mapped, {3}); }) ==
        "/data/rows: field 'row', sample 3, byte 4096: checksum mismatch");
}
