#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/bucket_by_length.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/take.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sampler_contract.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

using numbers = std::vector<std::uint64_t>;

std::string refusal(auto&& call) {
  return message_of<usage_error>(call);
}

struct empty_order {
  std::uint64_t size(std::uint64_t /*samples*/) const { return 0; }
  void indices(std::uint64_t /*samples*/, std::uint64_t /*epoch*/, position /*first*/,
               std::span<sample_index> /*out*/) const {}
};

}  // namespace

TEST_CASE("take: an epoch continues where the one before ended", "[sampler][host]") {
  const sampler order = take{sequential{}, 4};
  CHECK(order.size(10) == 4);
  CHECK(epoch_of(order, 10, 0) == numbers{0, 1, 2, 3});
  CHECK(epoch_of(order, 10, 1) == numbers{4, 5, 6, 7});
  CHECK(epoch_of(order, 10, 2) == numbers{8, 9, 0, 1});

  const shuffle all{.seed = 3};
  const sampler tenth = take{all, 0.1};
  numbers joined;
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
    for (const std::uint64_t sample : epoch_of(tenth, 1000, epoch)) joined.push_back(sample);
  numbers expected = epoch_of(all, 1000, 0);
  for (const std::uint64_t sample : epoch_of(all, 1000, 1)) expected.push_back(sample);
  CHECK(joined == expected);
}

TEST_CASE("take: from the beginning, epoch e is the first part of the sampler's epoch e",
          "[sampler][host]") {
  const shuffle all{.seed = 3};
  const sampler order = take{all, 30, take_from::epoch_begin};
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch)
    CHECK(epoch_of(order, 1000, epoch) == run_of(all, 1000, epoch, 0, 30));
}

TEST_CASE("take: epochs that continue may be longer than the sampler's", "[sampler][host]") {
  const sampler order = take{sequential{}, 7};
  CHECK(epoch_of(order, 3, 0) == numbers{0, 1, 2, 0, 1, 2, 0});
  CHECK(epoch_of(order, 3, 1) == numbers{1, 2, 0, 1, 2, 0, 1});
}

TEST_CASE("take: a share is of the sampler's epoch, rounded to the nearest", "[sampler][host]") {
  CHECK(take{sequential{}, 0.25}.size(10) == 3);
  CHECK(take{sequential{}, 0.24}.size(10) == 2);
  CHECK(take{sequential{}, 1.0}.size(UINT64_MAX) == UINT64_MAX);
  CHECK(take{take{sequential{}, 0.5}, 0.5}.size(100) == 25);
}

TEST_CASE("take: a position's sample is the same in every cut", "[sampler][host]") {
  check_is_pure(take{shuffle{.seed = 1}, 77}, 500);
  check_is_pure(take{shuffle{.seed = 1}, 777}, 500);
  check_is_pure(take{shuffle{.seed = 1}, 0.3, take_from::epoch_begin}, 500);
}

TEST_CASE("take: epochs of a trillion samples, far on, are found by arithmetic",
          "[sampler][host]") {
  const std::uint64_t all = 1'000'000'000'000;
  const sampler order = take{shuffle{.seed = 1}, 999'999'999'999};
  // Position 10^9 × 999,999,999,999 is 10^9 positions before the end of the sampler's epoch.
  CHECK(run_of(order, all, 1'000'000'000, 0, 5) ==
        run_of(shuffle{.seed = 1}, all, 999'999'999, all - 1'000'000'000, 5));
}

TEST_CASE("take: a sampler that must see the dataset sees it", "[sampler][host]") {
  std::vector<std::uint64_t> lengths(100);
  for (std::size_t i = 0; i < 100; ++i) lengths[i] = i * i % 31;
  const auto data = make_memory_dataset({own("x", std::vector<std::uint8_t>(100))});
  const bucket_by_length buckets{lengths, {.seed = 1, .buckets = 2}};
  const sampler order = sampler{take{buckets, 40}}.bind(*data, 8);
  CHECK(epoch_of(order, 100, 1) == run_of(buckets.bind(*data, 8), 100, 0, 40, 40));
}

TEST_CASE("take: invalid options are refused, with the reason", "[sampler][host]") {
  CHECK(refusal([] {
          (void)take{sequential{}, 5, static_cast<take_from>(2)};
        }) ==
        "take: from is 2, which is not a value of its type: say one of last_end, epoch_begin");
  CHECK(refusal([] {
          (void)take{sequential{}, 0};
        }) == "take: the epoch should have 0 positions; ask for 1 or more");
  CHECK(refusal([] {
          (void)take{sequential{}, -3};
        }) == "take: the epoch should have -3 positions; ask for 1 or more");
  const std::string shares = "; a share is above 0 and up to 1, and an integer counts positions";
  CHECK(refusal([] { (void)take{sequential{}, 1.5}; }) == "take: the share is 1.500000" + shares);
  CHECK(refusal([] { (void)take{sequential{}, 0.0}; }) == "take: the share is 0.000000" + shares);
  CHECK(refusal([] {
          (void)take{sequential{}, 0.01}.size(10);
        }) == "take: the share 0.010000 of 10 positions is less than one; take a larger share");
  CHECK(refusal([] {
          (void)take{sequential{}, 11, take_from::epoch_begin}.size(10);
        }) ==
        "take: 11 positions should be taken from the beginning of each epoch, but an epoch has 10; "
        "take fewer, or use take_from::last_end");
  CHECK(refusal([] {
          (void)take{empty_order{}, 3}.size(10);
        }) == "take: the sampler has no positions, so none can be taken");
}
