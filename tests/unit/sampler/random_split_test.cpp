#include <feedline/dataset/select.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/random_split.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

using namespace feedline;

namespace {

std::vector<std::uint64_t> samples_of(const dataset& part) {
  std::vector<sample_index> all(part.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {i};
  const auto read = test::read_samples(part, all);
  std::vector<std::uint64_t> ids(all.size());
  if (!ids.empty()) std::memcpy(ids.data(), read[0].data(), read[0].size());
  return ids;
}

std::vector<std::uint64_t> sizes_of(const std::vector<dataset_ptr>& parts) {
  std::vector<std::uint64_t> sizes;
  for (const dataset_ptr& part : parts) sizes.push_back(part->size());
  return sizes;
}

}  // namespace

TEST_CASE("random split: parts share no sample and have all of them", "[dataset][sampler][host]") {
  const std::uint64_t size = GENERATE(0U, 1U, 2U, 10U, 1000U);
  const auto whole = test::make_identity_dataset(size, 3);
  const auto parts = random_split(whole, {0.5, 0.3, 0.2}, 42);
  std::set<std::uint64_t> all;
  std::size_t count = 0;
  for (const dataset_ptr& part : parts)
    for (const std::uint64_t sample : samples_of(*part)) {
      CHECK(sample < size);
      all.insert(sample);
      ++count;
    }
  CHECK(count == size);
  CHECK(all.size() == size);
}

TEST_CASE("random split: a part keeps the dataset contract", "[dataset][sampler][host]") {
  const auto whole = test::make_identity_dataset(100, 7);
  const auto part = random_split(whole, {70, 30}, 5)[1];
  const auto ids = samples_of(*part);
  test::check_dataset_contract(part, 30, whole->fields(),
                               [&](sample_index sample, std::size_t place) {
                                 return test::read_sample(*whole, {ids[sample.value]})[place];
                               });
  CHECK(part->rows().empty());
  CHECK(select(part, {"row"})->fields().size() == 1);
}

TEST_CASE("random split: shares are rounded so that all samples are distributed, counts are exact",
          "[dataset][sampler][host]") {
  const auto whole = test::make_identity_dataset(101, 3);
  CHECK(sizes_of(random_split(whole, {0.9, 0.1}, 1)) == std::vector<std::uint64_t>{91, 10});
  CHECK(sizes_of(random_split(whole, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 1)) ==
        std::vector<std::uint64_t>{10, 10, 10, 10, 11, 10, 10, 10, 10, 10});
  CHECK(sizes_of(random_split(whole, {1.0}, 1)) == std::vector<std::uint64_t>{101});
  CHECK(sizes_of(random_split(whole, {100, 0, 1U}, 1)) == std::vector<std::uint64_t>{100, 0, 1});
}

TEST_CASE("random split: the seed alone says which sample is where", "[dataset][sampler][host]") {
  const auto whole = test::make_identity_dataset(20, 3);
  const auto one = samples_of(*random_split(whole, {0.5, 0.5}, 7)[0]);
  CHECK(one == samples_of(*random_split(whole, {10, 10}, 7)[0]));
  CHECK(one != samples_of(*random_split(whole, {0.5, 0.5}, 8)[0]));
  // Kept across versions and platforms.
  CHECK(one == std::vector<std::uint64_t>{14, 13, 9, 12, 15, 1, 16, 6, 18, 0});
}

TEST_CASE("random split: sizes that do not fit are refused", "[dataset][sampler][host]") {
  const auto whole = test::make_identity_dataset(20, 3);
  const auto refusal = [&](const std::vector<split_size>& sizes) {
    return test::message_of<usage_error>([&] { (void)random_split(whole, sizes, 1); });
  };
  CHECK(refusal({}) == "random_split: there are no sizes: name a part's, as {0.9, 0.1}");
  CHECK(refusal({0.8, 0.1}) ==
        "random_split: the shares' sum is 0.900000, and must be 1: add one for the samples to "
        "leave out");
  CHECK(refusal({1.5, -0.5}) == "random_split: size 0 is 1.500000: a share is from 0 to 1");
  CHECK(refusal({10, 9}) ==
        "random_split: the sizes' sum is 19 samples, but the dataset has 20: they must "
        "be equal; add a size for the samples to leave out");
  CHECK(refusal({21, -1}) == "random_split: size 1 is -1: a part has 0 samples or more");
  CHECK(refusal({19, 1.0}) ==
        "random_split: some sizes are shares and some count samples: 1 is a sample, "
        "1.0 the whole");
  CHECK(test::message_of<usage_error>([] { (void)random_split(nullptr, {1.0}, 1); }) ==
        "random_split: the dataset is null");
}
