#include <feedline/dataset/subset.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace feedline;

namespace {

/// Expected content of a subset; `chosen` gives the sample of the whole for each.
template <class Chosen>
test::expected_bytes through(const dataset_ptr& whole, Chosen chosen) {
  return [whole, chosen](sample_index sample, std::size_t place) {
    return test::read_sample(*whole, chosen(sample))[place];
  };
}

}  // namespace

TEST_CASE("subset: chosen samples, repeats among them, keep the dataset contract",
          "[dataset][host]") {
  const auto whole = test::make_identity_dataset(100, 29);
  const std::vector<sample_index> chosen{{99}, {0}, {7}, {7}, {42}, {1}};
  test::check_dataset_contract(
      subset(whole, chosen), chosen.size(), whole->fields(),
      through(whole, [&](sample_index sample) { return chosen[sample.value]; }));
}

TEST_CASE("subset: a range keeps the dataset contract", "[dataset][host]") {
  const auto whole = test::make_identity_dataset(100, 29);
  test::check_dataset_contract(
      subset(whole, sample_index{37}, 63), 63, whole->fields(),
      through(whole, [](sample_index sample) { return sample_index{sample.value + 37}; }));
}

TEST_CASE("subset: a range of rows in memory is in memory too, and keeps them alive",
          "[dataset][host]") {
  const auto whole = test::make_identity_rows(100, 29);
  const auto range = subset(whole, sample_index{37}, 20);
  test::check_dataset_contract(range, 20, whole->fields(), through(whole, [](sample_index sample) {
                                 return sample_index{sample.value + 37};
                               }));
  REQUIRE(range->rows().size() == 3);
  CHECK(range->rows()[1].data() == whole->rows()[1].data() + 37 * 29);
  CHECK(range->rows()[1].size() == 20 * 29);
  const auto inner = subset(range, sample_index{5}, 3);
  CHECK(inner->rows()[1].data() == whole->rows()[1].data() + 42 * 29);
  CHECK(subset(whole, sample_index{100}, 0)->rows()[0].empty());
}

TEST_CASE(
    "subset: chosen samples have no rows in memory, nor has a range of a dataset without rows",
    "[dataset][host]") {
  CHECK(subset(test::make_identity_rows(100, 29), {{3}, {4}, {5}})->rows().empty());
  CHECK(subset(test::make_identity_dataset(100, 29), sample_index{3}, 3)->rows().empty());
}

TEST_CASE("subset: a subset of a subset chooses among the inner one's samples", "[dataset][host]") {
  const auto inner = subset(test::make_identity_dataset(100, 8), sample_index{10}, 20);
  const auto sample = test::read_sample(*subset(inner, {{3}, {19}}), sample_index{1});
  CHECK(test::is_identity(29, sample[0], sample[1]));
}

TEST_CASE("subset: choosing nothing gives a dataset of size 0", "[dataset][host]") {
  const auto whole = test::make_identity_dataset(5, 8);
  test::check_dataset_contract(subset(whole, std::vector<sample_index>{}), 0, whole->fields(), {});
  test::check_dataset_contract(subset(whole, sample_index{5}, 0), 0, whole->fields(), {});
}

TEST_CASE("subset: it may be read as the whole may be", "[dataset][host]") {
  const auto whole = test::make_identity_dataset(5, 8);
  const auto turns = std::make_shared<const test::serialized_dataset>(whole);
  CHECK(subset(whole, sample_index{0}, 5)->concurrency() == read_concurrency::parallel);
  CHECK(subset(turns, sample_index{0}, 5)->concurrency() == read_concurrency::serialized);
}

TEST_CASE("subset: it keeps the whole alive", "[dataset][host]") {
  auto whole = test::make_identity_dataset(5, 8);
  const std::weak_ptr<const dataset> watch = whole;
  auto part = subset(std::move(whole), sample_index{0}, 2);
  CHECK_FALSE(watch.expired());
  part.reset();
  CHECK(watch.expired());
}

TEST_CASE("subset: samples that the whole lacks are refused, naming them", "[dataset][host]") {
  const auto whole = test::make_identity_dataset(5, 8);
  CHECK(test::message_of<usage_error>([&] {
          (void)subset(whole, {{4}, {5}});
        }) == "subset: entry 1 chooses sample 5, but the dataset has 5 samples");
  CHECK(test::message_of<usage_error>([&] { (void)subset(whole, sample_index{3}, 3); }) ==
        "subset: 3 samples from sample 3 on are asked for, but the dataset has 5 samples");
  CHECK_THROWS_AS(subset(whole, sample_index{3}, UINT64_MAX - 2), usage_error);  // 3 + it is 0
  CHECK_THROWS_AS(subset(whole, sample_index{6}, 0), usage_error);
  CHECK_THROWS_AS(subset(nullptr, sample_index{0}, 0), usage_error);
}

TEST_CASE("subset: a sample beyond the subset is refused, though the whole has it",
          "[dataset][host]") {
  const auto part = subset(test::make_identity_dataset(5, 8), sample_index{1}, 2);
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*part, {2}); }) ==
        "sample 2: there is no such sample: the dataset has 2");
  const auto listed = subset(test::make_identity_dataset(5, 8), {{4}});
  CHECK_THROWS_AS(test::read_sample(*listed, {1}), dataset_error);
}

TEST_CASE("subset: an error names the subset's own sample, and tells the whole's",
          "[dataset][host]") {
  const auto damaged = test::make_damaged(test::make_identity_dataset(100, 8), sample_index{42});
  const auto part = GENERATE_COPY(subset(damaged, {{40}, {41}, {42}, {43}}),
                                  subset(damaged, sample_index{40}, 4));
  try {
    (void)test::read_samples(*part, {{3}, {2}, {0}});
    FAIL("nothing was thrown");
  } catch (const dataset_error& error) {
    CHECK(
        std::string{error.what()} ==
        "/data/rows: field 'row', sample 2, byte 4096: checksum mismatch (sample 42 of the dataset "
        "that this is a subset of)");
    CHECK(error.sample() == 2);
    CHECK(test::message_of<dataset_error>([&] { std::rethrow_if_nested(error); }) ==
          "/data/rows: field 'row', sample 42, byte 4096: checksum mismatch");
  }
}
