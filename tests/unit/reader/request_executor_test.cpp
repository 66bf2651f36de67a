#include "reader/request_executor.hpp"

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/devices/stages.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::detail;
using feedline::test::gated;
using feedline::test::make_identity_dataset;
using feedline::test::make_identity_rows;
using feedline::test::stages;

namespace {

constexpr std::byte untouched{0xEE};

/// Batches of 4 samples of 8 + 13 bytes, 3 batches a slot; requests of a batch.
const loader_options small{.batch_size = 4,
                           .expert = {.batches_per_slot = 3, .request_bytes = 5 * 21}};

struct filling {
  explicit filling(dataset_ptr data = make_identity_dataset(96, 13), sampler order = sequential{},
                   const loader_options& options = small)
      : parts{make_host_device(), std::move(data), options, std::move(order)},
        under_test{parts.plan.batch_size, parts.writer, *parts.staging} {}

  slot_index open(std::uint64_t ticket) {
    const slot_index slot = parts.open(pass, ticket);
    std::fill_n((*parts.staging)[slot].data, parts.plan.slot_bytes, untouched);
    return slot;
  }
  bool fill(slot_index slot, std::uint32_t request) {
    reader_scratch own;
    return under_test.fill({static_cast<std::uint32_t>(slot.value), request}, own);
  }
  /// The sample whose bytes lie at an index of a slot; nothing if they belong to no sample.
  std::optional<std::uint64_t> sample_at(slot_index slot, std::uint64_t place) const {
    const slot_layout& layout = parts.format->layout;
    const std::byte* const batch =
        (*parts.staging)[slot].data + place / layout.batch_size() * layout.batch_bytes();
    const std::uint64_t within = place % layout.batch_size();
    const std::span id{batch + layout.field_offset(0) + within * 8, 8};
    const std::span row{batch + layout.field_offset(1) + within * 13, 13};
    std::uint64_t sample = 0;
    std::memcpy(&sample, id.data(), 8);
    if (!test::is_identity(sample, id, row)) return std::nullopt;
    return sample;
  }

  stages parts;
  request_executor under_test;
  std::shared_ptr<epoch_pass> pass = std::make_shared<epoch_pass>(3);
};

/// Fails for some samples, as a file would.
dataset_ptr failing_at(std::vector<std::uint64_t> bad) {
  return gated(make_identity_dataset(96, 13), [bad](std::span<const sample_index> run) {
    for (const auto sample : run) {
      if (std::find(bad.begin(), bad.end(), sample.value) != bad.end())
        throw dataset_error{{"rows.bin", "row", sample.value}, "unreadable"};
    }
  });
}

}  // namespace

TEST_CASE(
    "request executor: requests write every sample of the epoch's order at its position, and only "
    "there",
    "[reader][host]") {
  const bool shuffled = GENERATE(false, true);
  const sampler order = shuffled ? sampler{shuffle{.seed = 9}} : sampler{sequential{}};
  filling on{make_identity_dataset(96, 13), order};
  const slot_index slot = on.open(2);
  CHECK_FALSE(on.fill(slot, 2));
  CHECK_FALSE(on.fill(slot, 0));
  CHECK(on.fill(slot, 1));
  std::vector<sample_index> wanted(12);
  order.indices(96, 3, position{24}, wanted);
  for (std::uint64_t place = 0; place < 12; ++place)
    CHECK(on.sample_at(slot, place) == wanted[place].value);

  const slot_layout& layout = on.parts.format->layout;
  const std::byte* const data = (*on.parts.staging)[slot].data;
  for (std::uint64_t batch = 0; batch < 3; ++batch) {
    const std::byte* const start = data + batch * layout.batch_bytes();
    CHECK(start[4 * 8] == untouched);                            // padding after "id"
    CHECK(start[layout.field_offset(1) + 4 * 13] == untouched);  // and after "row"
  }
}

TEST_CASE("request executor: a reader returns to the same positions of another slot",
          "[reader][host]") {
  filling on;
  reader_scratch reader;
  std::vector<std::uint32_t> requests{0, 1, 2};
  for (const std::uint64_t ticket : {0u, 1u}) {
    const slot_index slot = on.open(ticket);
    for (const std::uint32_t request : requests)
      (void)on.under_test.fill({static_cast<std::uint32_t>(slot.value), request}, reader);
    std::ranges::reverse(requests);  // the next slot's first is this one's last
    for (std::uint64_t place = 0; place < 12; ++place)
      CHECK(on.sample_at(slot, place) == 12 * ticket + place);
  }
}

TEST_CASE("request executor: the last slot of an epoch is filled as far as there are samples",
          "[reader][host]") {
  filling on{make_identity_dataset(18, 13)};  // batches of 4 4 4 | 4 2
  const slot_index slot = on.open(1);
  CHECK_FALSE(on.fill(slot, 0));
  CHECK(on.fill(slot, 1));
  for (std::uint64_t place = 0; place < 6; ++place) CHECK(on.sample_at(slot, place) == 12 + place);
  CHECK_FALSE(on.sample_at(slot, 6).has_value());
}

TEST_CASE("request executor: a read that fails marks the slot with epoch, batch, sample and path",
          "[reader][host]") {
  filling on{failing_at({30})};
  const slot_index slot = on.open(2);  // samples 24 to 35: sample 30 is in its second batch
  for (std::uint32_t request = 0; request < 3; ++request) on.fill(slot, request);
  CHECK((*on.parts.staging)[slot].state.load() == staging_state::filled);
  const auto failure = (*on.parts.staging)[slot].take_failure();
  REQUIRE(failure);
  CHECK(failure->where.stage == stage::reader);
  CHECK(failure->where.epoch == 3);
  CHECK(failure->where.ticket == 2);
  CHECK(failure->where.batch == 7);
  CHECK(failure->where.sample == 30);
  CHECK(failure->where.path == "rows.bin");
  CHECK(failure->good_batches == 1);
  CHECK(failure->first == position{28});  // the run that could not be read
  CHECK_THROWS_AS(std::rethrow_exception(failure->cause), dataset_error);
}

TEST_CASE(
    "request executor: samples before a failure are read, in whatever order the requests come",
    "[reader][host]") {
  filling on{failing_at({33, 26})};
  const slot_index slot = on.open(2);
  for (const std::uint32_t request : {2u, 1u, 0u}) on.fill(slot, request);
  const auto failure = (*on.parts.staging)[slot].take_failure();
  REQUIRE(failure);
  CHECK(failure->where.sample == 26);
  CHECK(failure->good_batches == 0);
  CHECK(on.sample_at(slot, 5) == 29);  // request 1 was read: nothing before it had failed yet
}

TEST_CASE("request executor: samples after a failure in the slot are not read, but counted",
          "[reader][host]") {
  filling on{failing_at({24})};
  const slot_index slot = on.open(2);
  CHECK_FALSE(on.fill(slot, 0));
  CHECK_FALSE(on.fill(slot, 1));
  CHECK(on.fill(slot, 2));
  CHECK_FALSE(on.sample_at(slot, 5).has_value());
  CHECK_FALSE(on.sample_at(slot, 11).has_value());
  CHECK((*on.parts.staging)[slot].take_failure()->where.sample == 24);
}

TEST_CASE(
    "request executor: an exception that knows no sample is nested in one that names those of the "
    "run",
    "[reader][host]") {
  const bool standard = GENERATE(true, false);
  filling on{gated(make_identity_dataset(96, 13), [standard](auto) {
    if (standard) throw std::runtime_error{"out of luck"};
    throw 42;
  })};
  const slot_index slot = on.open(2);
  on.fill(slot, 0);
  const auto failure = (*on.parts.staging)[slot].take_failure();
  REQUIRE(failure);
  CHECK_FALSE(failure->where.sample.has_value());
  CHECK(failure->where.path.empty());
  try {
    std::rethrow_exception(failure->cause);
  } catch (const dataset_error& named) {
    CHECK(std::string{named.what()} ==
          std::string{"samples 24 to 27: the dataset's read threw: "} +
              (standard ? "out of luck" : "an exception that is no std::exception"));
    if (standard) {
      CHECK_THROWS_AS(std::rethrow_if_nested(named), std::runtime_error);
    } else {
      CHECK_THROWS_AS(std::rethrow_if_nested(named), int);
    }
  }
}

TEST_CASE("request executor: a sampler that throws is a failure like a dataset's",
          "[reader][host]") {
  struct bad_sampler {
    std::uint64_t size(std::uint64_t samples) const { return samples; }
    void indices(std::uint64_t, std::uint64_t, position, std::span<sample_index>) const {
      throw std::runtime_error{"no order"};
    }
  };
  filling on{make_identity_dataset(96, 13), bad_sampler{}};
  const slot_index slot = on.open(0);
  on.fill(slot, 0);
  const auto failure = (*on.parts.staging)[slot].take_failure();
  REQUIRE(failure);
  CHECK_THROWS_AS(std::rethrow_exception(failure->cause), std::runtime_error);
}

TEST_CASE(
    "request executor: only the batch whose samples cannot be drawn fails, not those copied with "
    "it",
    "[reader][host]") {
  struct ending_sampler {
    std::uint64_t size(std::uint64_t samples) const { return samples; }
    void indices(std::uint64_t, std::uint64_t, position first, std::span<sample_index> out) const {
      if (first.value + out.size() > 6) throw std::runtime_error{"no order"};
      for (std::uint64_t i = 0; i < out.size(); ++i) out[i] = sample_index{first.value + i};
    }
  };
  filling on{make_identity_rows(96, 13),
             ending_sampler{},
             {.batch_size = 4, .expert = {.batches_per_slot = 3, .request_bytes = 12 * 22}}};
  REQUIRE(on.parts.writer.reads_across_batches());
  const slot_index slot = on.open(0);
  CHECK(on.fill(slot, 0));  // all of the slot
  for (std::uint64_t place = 0; place < 4; ++place) CHECK(on.sample_at(slot, place) == place);
  for (std::uint64_t place = 4; place < 12; ++place) CHECK_FALSE(on.sample_at(slot, place));
  const auto failure = (*on.parts.staging)[slot].take_failure();
  REQUIRE(failure);
  CHECK(failure->good_batches == 1);
  CHECK_THROWS_AS(std::rethrow_exception(failure->cause), std::runtime_error);
}

TEST_CASE("request executor: an abandoned epoch is not read, but its slots are counted",
          "[reader][host]") {
  std::atomic<int> reads{0};
  filling on{gated(make_identity_dataset(96, 13), [&](auto) { reads.fetch_add(1); })};
  const slot_index slot = on.open(0);
  CHECK_FALSE(on.fill(slot, 0));
  const int before = reads.load();
  CHECK(before > 0);
  on.pass->abandoned.store(true);
  CHECK_FALSE(on.fill(slot, 1));
  CHECK(on.fill(slot, 2));
  CHECK(reads.load() == before);
  CHECK((*on.parts.staging)[slot].state.load() == staging_state::filled);
}

TEST_CASE("request executor: after stop nothing is read, and no slot passes for a filled one",
          "[reader][host]") {
  std::atomic<int> reads{0};
  filling on{gated(make_identity_dataset(96, 13), [&](auto) { reads.fetch_add(1); })};
  const slot_index slot = on.open(0);
  CHECK_FALSE(on.fill(slot, 0));
  const int before = reads.load();
  on.under_test.stop();
  CHECK_FALSE(on.fill(slot, 1));
  CHECK_FALSE(on.fill(slot, 2));
  CHECK(reads.load() == before);
  CHECK((*on.parts.staging)[slot].state.load() == staging_state::filling);
}

TEST_CASE("request executor: a parallel dataset is read by several threads at once",
          "[reader][host]") {
  std::barrier meeting{3};  // no thread leaves a read before all three are in one
  std::atomic<int> first_reads{0};
  filling on{gated(make_identity_dataset(96, 13), [&](auto) {
    if (first_reads.fetch_add(1) < 3) meeting.arrive_and_wait();
  })};
  const slot_index slot = on.open(0);
  std::vector<std::thread> readers;
  for (std::uint32_t request = 0; request < 3; ++request)
    readers.emplace_back([&, request] { on.fill(slot, request); });
  for (auto& reader : readers) reader.join();
  for (std::uint64_t place = 0; place < 12; ++place) CHECK(on.sample_at(slot, place) == place);
}

TEST_CASE("request executor: a serialized dataset is read by one thread at a time",
          "[reader][host]") {
  int inside = 0;  // no atomic: the thread sanitizer judges as well
  int most = 0;
  filling on{gated(
      make_identity_dataset(96, 13),
      [&](auto) {
        most = std::max(most, ++inside);
        for (int i = 0; i < 100; ++i) std::this_thread::yield();
        --inside;
      },
      read_concurrency::serialized)};
  std::barrier gate{3};
  const slot_index slot = on.open(0);
  std::vector<std::thread> readers;
  for (std::uint32_t request = 0; request < 3; ++request) {
    readers.emplace_back([&, request] {
      gate.arrive_and_wait();
      on.fill(slot, request);
    });
  }
  for (auto& reader : readers) reader.join();
  CHECK(most == 1);
}
