#include "reader/sample_source.hpp"

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::message_of;

namespace {

/// A sampler that gives every sample of an epoch as set.
struct told {
  std::vector<std::uint64_t> samples;

  std::uint64_t size(std::uint64_t) const { return samples.size(); }
  void indices(std::uint64_t, std::uint64_t, position first, std::span<sample_index> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {samples[first.value + i]};
  }
};

std::string refusal(const std::vector<std::uint64_t>& samples) {
  const sample_source source{test::make_identity_dataset(10, 4), told{samples}};
  return message_of<usage_error>([&] {
    std::vector<sample_index> out(samples.size() - 2);
    source.indices(3, position{2}, out);
  });
}

std::string failure_of(const std::vector<sample_index>& samples) {
  const sample_source source{test::gated(test::make_identity_dataset(1000, 4),
                                         [](auto) { throw std::runtime_error{"no connection"}; }),
                             sequential{}};
  return message_of<dataset_error>([&] {
    std::vector<std::byte> ids(samples.size() * 8);
    std::vector<std::byte> rows(samples.size() * 4);
    std::vector<unreadable_sample> bad;
    source.read(epoch_pass{0},
                {.samples = samples,
                 .out = std::vector<std::span<std::byte>>{ids, rows},
                 .context = {0, 0, samples, position{0}}},
                bad);
  });
}

}  // namespace

TEST_CASE(
    "sample source: a sampler that gives a sample beyond the dataset is named, with the position",
    "[reader][host]") {
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t bad : {std::uint64_t{10}, huge, huge / 2, huge / 2 + 1, huge / 2 + 11})
    CHECK(refusal({0, 0, 9, 4, bad, 11, 1}) ==
          "the sampler gives sample " + std::to_string(bad) +
              " at position 4 of epoch 3, but the dataset has samples 0 to 9: correct its "
              "indices()");
  const sample_source source{test::make_identity_dataset(10, 4), told{{0, 9, 9}}};
  std::vector<sample_index> out(3);
  source.indices(0, position{0}, out);
  CHECK(out[2] == sample_index{9});
}

TEST_CASE("sample source: a dataset's exception without a sample gets the samples of the run",
          "[reader][host]") {
  const std::string cause = "the dataset's read threw: no connection";
  CHECK(failure_of({{17}}) == "sample 17: " + cause);
  CHECK(failure_of({{17}, {3}}) == "samples 17 and 3: " + cause);
  CHECK(failure_of({{3}, {4}, {5}}) == "samples 3 to 5: " + cause);
  CHECK(failure_of({{9}, {4}, {1}}) == "samples 9, 4 and 1: " + cause);
  CHECK(failure_of({{9}, {8}, {7}, {6}, {5}, {4}, {3}, {2}, {1}, {0}}) ==
        "samples 9, 8, 7, 6, 5, 4, 3, 2 and 2 more: " + cause);
}

TEST_CASE("sample source: samples are named one by one, as a range, or the first of them",
          "[reader][host]") {
  const auto named = [](const std::vector<std::uint64_t>& numbers, std::uint64_t more = 0) {
    std::vector<sample_index> samples;
    for (const std::uint64_t number : numbers) samples.push_back(sample_index{number});
    return detail::names_of(samples, more);
  };
  CHECK(named({7}) == "sample 7");
  CHECK(named({7, 8}) == "samples 7 and 8");
  CHECK(named({24, 25, 26}) == "samples 24 to 26");
  CHECK(named({7, 3, 12}) == "samples 7, 3 and 12");
  CHECK(named({1, 2, 3}, 5) == "samples 1, 2, 3 and 5 more");
  CHECK(named({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) == "samples 9, 8, 7, 6, 5, 4, 3, 2 and 2 more");
}
