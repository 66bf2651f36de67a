/// Order and content: given (seed, epoch, batch size) the batches are the same for any number of
/// readers, any depth, any slot size and any device. Zero readers are the reference.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 1009;  // a prime: nothing divides it

std::vector<seen_batch> run_on_host(const loader_options& options, const sampler& order,
                                    std::uint64_t epochs = 2) {
  loader loader{make_identity_dataset(sample_count, 37), order, make_host_device(), options};
  recorder record;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (batch& batch : loader.epoch(epoch)) record(batch);
  }
  return record.seen();
}

std::vector<seen_batch> run_on_device(const loader_options& options, const sampler& order,
                                      std::uint64_t epochs = 2) {
  const scripted on;
  recorder record{on};
  loader loader{make_identity_dataset(sample_count, 37), order, on.device, options};
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (batch& batch : loader.epoch(epoch, on.stream)) record(batch);
  }
  return record.seen();
}

loader_options reference() {
  return {.batch_size = 16, .readers = 0};
}

}  // namespace

TEST_CASE("order: zero readers deliver the sampler's order, batch after batch", "[loader][host]") {
  const auto batches = run_on_host(reference(), sequential{}, 1);
  REQUIRE(batches.size() == 64);  // 63 full ones and one of a single sample
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < batches.size(); ++i) {
    CHECK(batches[i].index == i);
    CHECK(batches[i].intact);
    for (const auto sample : batches[i].samples) CHECK(sample == next++);
  }
  CHECK(next == sample_count);
}

TEST_CASE("order: any readers, depth and slot size deliver the same as zero readers, on the host",
          "[loader][host]") {
  const auto expected = run_on_host(reference(), shuffle{.seed = 42});
  REQUIRE(all_intact(expected));
  const int readers = GENERATE(1, 2, 5);
  const std::uint64_t batches_per_slot = GENERATE(0U, 1U, 3U, 64U, 1000U);
  const std::size_t slots = GENERATE(2U, 5U);
  CAPTURE(readers, batches_per_slot, slots);
  CHECK(run_on_host({.batch_size = 16,
                     .readers = readers,
                     .expert = {.batches_per_slot = batches_per_slot,
                                .request_bytes = 100,
                                .staging_slots = slots}},
                    shuffle{.seed = 42}) == expected);
}

TEST_CASE(
    "order: a device with copies delivers the same as the host, at any depth and with any readers",
    "[loader][host]") {
  const auto expected = run_on_host(reference(), shuffle{.seed = 42});
  const int readers = GENERATE(0, 1, 4);
  const std::uint64_t batches_per_slot = GENERATE(1U, 7U);
  const std::size_t device_slots = GENERATE(2U, 3U);
  const std::uint64_t epochs_ahead = GENERATE(0U, 2U);
  CAPTURE(readers, batches_per_slot, device_slots, epochs_ahead);
  CHECK(run_on_device({.batch_size = 16,
                       .epochs = epochs_ahead,
                       .readers = readers,
                       .expert = {.batches_per_slot = batches_per_slot,
                                  .request_bytes = 200,
                                  .staging_slots = 3,
                                  .device_slots = device_slots}},
                      shuffle{.seed = 42}) == expected);
}

TEST_CASE("order: an epoch holds every sample once, two epochs differ, the same epoch never does",
          "[loader][host]") {
  const auto batches = run_on_host({.batch_size = 16}, shuffle{.seed = 7});
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> second;
  for (const auto& batch : batches) {
    auto& epoch = batch.epoch == 0 ? first : second;
    epoch.insert(epoch.end(), batch.samples.begin(), batch.samples.end());
  }
  CHECK(std::set<std::uint64_t>(first.begin(), first.end()).size() == sample_count);
  CHECK(std::set<std::uint64_t>(second.begin(), second.end()).size() == sample_count);
  CHECK(first.size() == sample_count);
  CHECK(second.size() == sample_count);
  CHECK(first != second);
  CHECK(run_on_host({.batch_size = 16}, shuffle{.seed = 7}) == batches);
  CHECK(run_on_host({.batch_size = 16}, shuffle{.seed = 8}) != batches);
}

TEST_CASE("order: a batch says which samples it holds", "[batch][host]") {
  loader loader{
      make_identity_dataset(100, 5), shuffle{.seed = 3}, make_host_device(), {.batch_size = 32}};
  for (batch& batch : loader.epoch(4)) {
    const auto samples = batch.samples();
    REQUIRE(samples.size() == batch.size());
    for (std::uint64_t i = 0; i < batch.size(); ++i) {
      CHECK(samples[i].value == batch["id"].data<std::uint64_t>()[i]);
    }
  }
}
