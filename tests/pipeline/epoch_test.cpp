/// Epochs: their ends, their edges, and how they follow each other.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

static_assert(std::input_iterator<epoch_range::iterator>);
static_assert(std::ranges::input_range<epoch_range>);

namespace {

std::vector<std::uint64_t> sizes_of_an_epoch(loader& loader, stream_ref stream) {
  std::vector<std::uint64_t> sizes;
  for (batch& batch : loader.epoch(0, stream)) sizes.push_back(batch.size());
  return sizes;
}

std::vector<seen_batch> consume(epoch_range range, const scripted& on = {nullptr, {}}) {
  recorder record{on};
  for (batch& batch : range) record(batch);
  return record.seen();
}

}  // namespace

TEST_CASE("epoch: a last batch that is not full is kept, or dropped", "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const auto data = make_identity_rows(10, 8);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader keeping = by.load(data, sequential{}, {.batch_size = 4, .readers = readers});
  CHECK(sizes_of_an_epoch(keeping, by.stream) == std::vector<std::uint64_t>{4, 4, 2});
  CHECK(keeping.plan().batches_per_epoch == 3);
  loader dropping =
      by.load(data, sequential{},
              {.batch_size = 4, .partial_batch = partial_batch::drop, .readers = readers});
  CHECK(sizes_of_an_epoch(dropping, by.stream) == std::vector<std::uint64_t>{4, 4});
  CHECK(dropping.plan().samples_per_epoch == 8);
}

TEST_CASE("epoch: a range can be left early, and the next epoch is whole", "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 3);
  const std::uint64_t epochs = GENERATE(0U, 9U);
  CAPTURE(to_string(by.through), readers, epochs);
  loader loader = by.load(
      make_identity_rows(200, 8), shuffle{.seed = 1},
      {.batch_size = 7, .epochs = epochs, .readers = readers, .expert = {.batches_per_slot = 2}});
  for (std::uint64_t taken = 0; taken < 6; ++taken) {
    std::uint64_t count = 0;
    for (batch& batch : loader.epoch(taken, by.stream)) {
      CHECK(batch.index() == count);
      if (count++ == taken) break;
    }
  }
  const auto whole = consume(loader.epoch(6, by.stream), by.looks());
  CHECK(whole.size() == 29);
  CHECK(all_intact(whole));
}

TEST_CASE("epoch: its number is an integer of any type, and a negative one is refused",
          "[loader][host]") {
  loader loader{make_identity_rows(8, 8), sequential{}, make_host_device(), {.batch_size = 8}};
  CHECK(loader.epoch(3).next().value().epoch() == 3);
  CHECK(loader.epoch(std::int8_t{4}).next().value().epoch() == 4);
  CHECK(loader.epoch(std::uint64_t{1} << 40U).next().value().epoch() == std::uint64_t{1} << 40U);
  CHECK(message_of<usage_error>([&] { (void)loader.epoch(-1); }) ==
        "a loader was asked for epoch -1; epochs are numbered from 0");
  CHECK(loader.epoch(0).next());
}

TEST_CASE("epoch: any epoch can follow any other, whatever was read ahead", "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const auto data = make_identity_rows(100, 8);
  CAPTURE(to_string(by.through));
  loader loader = by.load(data, shuffle{.seed = 5}, {.batch_size = 8, .epochs = 100, .readers = 2});
  feedline::loader reference{
      data, shuffle{.seed = 5}, make_host_device(), {.batch_size = 8, .readers = 0}};
  for (const std::uint64_t epoch : {0U, 1U, 7U, 7U, 3U, 4U, 99U, 0U}) {
    CAPTURE(epoch);
    CHECK(consume(loader.epoch(epoch, by.stream), by.looks()) == consume(reference.epoch(epoch)));
  }
}

TEST_CASE("epoch: the next one may be asked for before the current one ends, and both are whole",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader loader =
      by.load(make_identity_rows(64, 8), sequential{}, {.batch_size = 8, .readers = readers});
  auto first = loader.epoch(0, by.stream);
  auto second = loader.epoch(1, by.stream);
  const auto seen_first = consume(std::move(first), by.looks());
  const auto seen_second = consume(std::move(second), by.looks());
  CHECK(seen_first.size() == 8);
  CHECK(seen_second.size() == 8);
  CHECK(in_order_and_intact(seen_first));
  CHECK(in_order_and_intact(seen_second));
}

TEST_CASE("epoch: beginning a later one abandons the one before, whose next step says so",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  CAPTURE(to_string(by.through));
  loader loader = by.load(make_identity_rows(64, 8), sequential{}, {.batch_size = 8, .readers = 2});
  auto first = loader.epoch(0, by.stream);
  auto second = loader.epoch(1, by.stream);
  REQUIRE(first.next());
  REQUIRE(second.next());
  CHECK_THROWS_AS((void)first.next(), usage_error);
  std::uint64_t rest = 0;
  while (second.next()) ++rest;
  CHECK(rest == 7);
  CHECK(!second.next());
}

TEST_CASE("epoch: an ended range stays at its end", "[loader][host]") {
  loader loader{make_identity_dataset(8, 8), sequential{}, make_host_device(), {.batch_size = 8}};
  auto range = loader.epoch(0);
  REQUIRE(range.next());
  CHECK(!range.next());
  CHECK(!range.next());
  CHECK(consume(loader.epoch(1)).size() == 1);
  CHECK(!range.next());
}

TEST_CASE("epoch: a range is gone through once", "[loader][host]") {
  loader loader{make_identity_dataset(8, 8), sequential{}, make_host_device(), {.batch_size = 8}};
  auto range = loader.epoch(0);
  (void)range.begin();
  CHECK_THROWS_AS((void)range.begin(), usage_error);
}

TEST_CASE("epoch: a batch can be moved out of the loop and kept", "[batch][host]") {
  loader loader{make_identity_dataset(64, 8),
                sequential{},
                make_host_device(),
                {.batch_size = 8, .readers = 2}};
  std::optional<batch> kept;
  for (batch& batch : loader.epoch(0)) {
    if (batch.index() == 2) kept = std::move(batch);
  }
  REQUIRE(kept);
  const auto seen = look_at(*kept);
  CHECK(seen.intact);
  CHECK(seen.samples.front() == 16);
}

TEST_CASE(
    "epoch: the next one is read ahead while the current one's last batch is held, when their "
    "number is known",
    "[loader][host]") {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t read = 0;
  const auto counting =
      gated(make_identity_dataset(32, 8), [&](std::span<const sample_index> samples) {
        const std::scoped_lock lock{mutex};
        read += samples.size();
        changed.notify_all();
      });
  loader loader{counting,
                sequential{},
                make_host_device(),
                {.batch_size = 8, .epochs = 2, .readers = 1, .expert = {.batches_per_slot = 1}}};
  auto range = loader.epoch(0);
  std::optional<batch> last;
  for (int i = 0; i < 4; ++i) last = range.next();
  REQUIRE(last);
  // Epoch 1 was not asked for, but its first slots are read: three of four are free beside the one
  // held.
  std::unique_lock lock{mutex};
  CHECK(changed.wait_for(lock, std::chrono::seconds{60}, [&] { return read == 32 + 24; }));
}
