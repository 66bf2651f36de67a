/// Statistics of whole loaders, on the host device and on one that does what a test says.

#include <feedline/dataset/read_counts.hpp>
#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/statistics/statistics.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/cpu_burner.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/datasets/encoded_dataset.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/scripted_device.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t batch_size = 8;
constexpr std::uint64_t samples = 10 * batch_size + 3;
constexpr std::uint64_t bytes_of_sample = 8 + 16;  // id and row

loader_options options_with(int readers) {
  return {.batch_size = batch_size, .readers = readers};
}

/// Takes an epoch to its end, doing something with each batch; how many there were.
template <class Step>
std::uint64_t take_all(loader& from, std::uint64_t epoch, stream_ref stream, Step step) {
  std::uint64_t batches = 0;
  for (const batch& each : from.epoch(epoch, stream)) {
    step(each);
    ++batches;
  }
  return batches;
}
std::uint64_t take_all(loader& from, std::uint64_t epoch = 0, stream_ref stream = {}) {
  return take_all(from, epoch, stream, [](const batch&) {});
}

/// A dataset that needs this long for a run of samples, by sleeping or by computing.
dataset_ptr slow_dataset(const std::function<void()>& before_read) {
  return gated(make_identity_dataset(8 * batch_size, 1000),
               [before_read](std::span<const sample_index>) { before_read(); });
}

/// Whether a stage has no more time than its threads have had.
bool adds_up(const stage_statistics& stage, std::chrono::nanoseconds time) {
  const auto threads = static_cast<std::int64_t>(std::max(stage.threads, 1U));
  return stage.time() <= threads * time + 1ms && stage.time() >= 0ns;
}

std::string verdict_of(const loader_statistics& of) {
  return to_string(judge(of).limit);
}

}  // namespace

TEST_CASE("statistics: every stage counts each batch, sample and byte once", "[statistics][host]") {
  const int readers = GENERATE(0, 1, 3);
  loader loader{make_identity_dataset(samples, 16), sequential{}, make_host_device(),
                options_with(readers)};
  CHECK(loader.statistics().consumer.batches == 0);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto before = loader.statistics();
    CHECK(take_all(loader, epoch) == 11);
    const auto seen = loader.statistics().since(before);
    for (const stage_statistics& stage : {seen.reader, seen.transfer, seen.consumer}) {
      CHECK(stage.batches == 11);
      CHECK(stage.samples == samples);
      CHECK(stage.slots > 0);
      CHECK(stage.slots_there == 0);
      CHECK(stage.max_latency >= stage.mean_latency());
    }
    CHECK(seen.reader.bytes == samples * bytes_of_sample);
    CHECK(seen.transfer.bytes == 0);  // read in place
    CHECK(seen.consumer.bytes == samples * bytes_of_sample);
    CHECK_FALSE(seen.copies);
    CHECK_FALSE(seen.exposed_on_stream);
    CHECK(seen.exposed == seen.consumer.starved + seen.consumer.stalled);
  }
  const auto all = loader.statistics();
  CHECK(all.reader.threads == static_cast<unsigned>(readers));
  CHECK(all.reader.busy > 0ns);
  CHECK(adds_up(all.reader, all.time));
  CHECK(adds_up(all.transfer, all.time));
  CHECK(adds_up(all.consumer, all.time));
}

TEST_CASE("statistics: copies are counted, and a stream's wait is exposed time",
          "[statistics][host]") {
  const scripted on;
  on.device->hold_copies();
  loader loader{make_identity_dataset(samples, 16), sequential{}, on.device, options_with(2)};
  auto range = loader.epoch(0, on.stream);
  const auto before = std::chrono::steady_clock::now();
  {
    const auto first = range.next();
    REQUIRE(first);
    std::this_thread::sleep_for(100ms);         // the stream waits
    CHECK(loader.statistics().exposed == 0ns);  // counts only what has passed
    on.device->allow_all_copies();
    on.device->drain(on.stream);
  }
  const auto waited = std::chrono::steady_clock::now() - before;
  const auto seen = loader.statistics();
  CHECK(seen.exposed_on_stream);
  CHECK(seen.exposed_waits == 1);
  CHECK(seen.exposed >= 50ms);  // the stream may come to its events late
  CHECK(seen.exposed <= waited);
  while (range.next()) {
  }
  const auto all = loader.statistics();
  CHECK(all.copies);
  CHECK(all.transfer.samples == samples);
  CHECK(all.transfer.bytes >= samples * bytes_of_sample);
  CHECK(all.transfer.bytes == on.device->copied_bytes());
  CHECK(all.exposed_waits >= 1);
}

TEST_CASE("statistics: the host's wait for a slot that is not decoded yet is exposed time",
          "[statistics][host]") {
  const scripted on;
  on.device->hold_decodes();
  loader loader{make_encoded(make_identity_dataset(samples, 16), batch_size),
                sequential{},
                on.device,
                {.batch_size = batch_size,
                 .readers = 2,
                 .decode_on = decode_on::device,
                 .expert = {.batches_per_slot = 1}}};
  auto range = loader.epoch(0, on.stream);
  CHECK_THROWS_AS((void)range.next(std::chrono::steady_clock::now() + 10ms), deadline_error);
  on.device->allow_decodes(1);
  REQUIRE(range.next());
  on.device->drain(on.stream);
  CHECK(loader.statistics().exposed_waits == 1);
  while (loader.statistics().transfer.batches < 2) std::this_thread::yield();
  const auto before = loader.statistics().consumer.starved;
  std::thread later{[&] {
    while (loader.statistics().consumer.starved < before + 50ms) std::this_thread::yield();
    on.device->allow_all_decodes();
  }};
  CHECK(range.next());
  later.join();
  on.device->drain(on.stream);
  const auto seen = loader.statistics();
  CHECK(seen.exposed_waits == 2);
  CHECK(seen.consumer.starved >= 50ms);
}

TEST_CASE("statistics: the host's wait is exposed time once the stream is idle",
          "[statistics][host]") {
  const bool stream_is_busy = GENERATE(false, true);
  const scripted on;
  loader loader{slow_dataset([] { std::this_thread::sleep_for(100ms); }), sequential{}, on.device,
                options_with(1)};
  auto range = loader.epoch(0, on.stream);
  if (stream_is_busy) {
    on.device->hold_work();
    on.device->launch(on.stream, [] {});
  }
  REQUIRE(range.next());
  on.device->allow_all_work();
  on.device->drain(on.stream);
  const auto seen = loader.statistics();
  CHECK(seen.consumer.starved >= 50ms);
  CHECK(seen.exposed_waits == 1);
  CHECK((seen.exposed >= 50ms) == !stream_is_busy);
}

TEST_CASE("statistics: only batches that were taken count, and no time between epochs",
          "[statistics][host]") {
  loader loader{make_identity_dataset(samples, 16), sequential{}, make_host_device(),
                options_with(2)};
  {
    auto range = loader.epoch(0);
    for (int i = 0; i < 3; ++i) REQUIRE(range.next());
  }
  const auto left = loader.statistics();
  CHECK(left.consumer.batches == 3);
  CHECK(left.consumer.samples == 3 * batch_size);
  std::this_thread::sleep_for(20ms);
  const auto later = loader.statistics();
  CHECK(later.consumer.time() == left.consumer.time());
  CHECK(later.time >= left.time + 20ms);
  auto range = loader.epoch(1);
  while (range.next()) {
  }
  const auto ended = loader.statistics();  // the epoch has ended, though its range is there
  CHECK(ended.consumer.batches == 14);
  std::this_thread::sleep_for(1ms);
  CHECK(loader.statistics().consumer.time() == ended.consumer.time());
}

TEST_CASE("statistics: rows that the device holds are counted apart from those that are read",
          "[statistics][host]") {
  const scripted on;
  auto options = options_with(2);
  options.placement = placement::resident;
  loader loader{make_identity_rows(samples, 16), sequential{}, on.device, options};
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    take_all(loader, epoch, on.stream);
    on.device->drain(on.stream);
    const auto seen = loader.statistics();
    CHECK(seen.reader.samples == (epoch + 1) * samples);
    CHECK(seen.cached_samples == epoch * samples);
    CHECK(seen.reader.bytes == samples * (bytes_of_sample + 1));
  }
}

TEST_CASE("statistics: a dataset's counts of reads belong to one loader alone",
          "[statistics][host]") {
  const int readers = GENERATE(0, 1, 3);
  const auto counting = [](std::uint64_t hits) {
    return gated(make_identity_dataset(samples, 16), [hits](std::span<const sample_index> run) {
      count_read({.decoded = 1, .cache_hits = hits, .cache_misses = run.size()});
    });
  };
  loader loader{counting(2), sequential{}, make_host_device(), options_with(readers)};
  feedline::loader other{counting(5), sequential{}, make_host_device(), options_with(readers)};
  auto range = other.epoch(0);
  REQUIRE(range.next());
  take_all(loader);
  while (range.next()) {
  }
  count_read({.decoded = 1000});  // no reader's
  for (const auto* const each : {&loader, &other}) {
    const auto seen = each->statistics();
    CHECK(seen.decoded >= 11);  // a run has a batch at most
    CHECK(seen.cache_hits == seen.decoded * (each == &loader ? 2 : 5));
    CHECK(seen.cache_misses == samples);
  }
}

TEST_CASE("statistics: samples that an error policy leaves out are counted", "[statistics][host]") {
  auto options = options_with(2);
  options.errors = {.action = error_action::skip, .max_share = 1};
  loader loader{make_bad_rows(samples, {5, 40}), sequential{}, make_host_device(), options};
  take_all(loader);
  CHECK(loader.statistics().unreadable_samples == 2);
}

TEST_CASE("statistics: any thread may look while the loader works", "[statistics][host]") {
  loader loader{make_identity_dataset(2000 * batch_size, 16), sequential{}, make_host_device(),
                options_with(2)};
  std::atomic<bool> ended{false};
  bool grew = true;
  std::thread watcher{[&] {
    loader_statistics last;
    while (!ended.load()) {
      const auto seen = loader.statistics();
      grew = grew && seen.reader.samples >= last.reader.samples &&
             seen.consumer.batches >= last.consumer.batches && seen.time >= last.time;
      last = seen;
    }
  }};
  CHECK(take_all(loader) == 2000);
  ended.store(true);
  watcher.join();
  CHECK(grew);
}

TEST_CASE("statistics: a dataset that computes makes a loop decode-bound", "[statistics][host]") {
  loader loader{slow_dataset([] { burn_cpu(20ms); }), sequential{}, make_host_device(),
                options_with(1)};
  take_all(loader);
  const auto seen = loader.statistics();
  INFO(report(seen));
  CHECK(verdict_of(seen) == "decode-bound");
}

TEST_CASE("statistics: a dataset that waits makes a loop storage-bound", "[statistics][host]") {
  const int readers = GENERATE(0, 1, 2);
  loader loader{slow_dataset([] { std::this_thread::sleep_for(50ms); }), sequential{},
                make_host_device(), options_with(readers)};
  take_all(loader);
  const auto seen = loader.statistics();
  CHECK(seen.reader.mean_latency() >= 50ms);
  INFO(report(seen));
  CHECK(verdict_of(seen) == "storage-bound");
}

TEST_CASE("statistics: a consumer that takes long makes a loop consumer-bound",
          "[statistics][host]") {
  loader loader{make_identity_dataset(8 * batch_size, 16), sequential{}, make_host_device(),
                options_with(1)};
  auto range = loader.epoch(0);
  REQUIRE(range.next());
  const auto before = loader.statistics();
  while (range.next()) std::this_thread::sleep_for(50ms);
  const auto seen = loader.statistics().since(before);
  INFO(report(seen));
  CHECK(verdict_of(seen) == "consumer-bound");
}

TEST_CASE("statistics: copies that take long make a loop copy-bound", "[statistics][host]") {
  const scripted on;
  on.device->hold_copies();
  loader loader{make_identity_dataset(16 * batch_size, 16),
                sequential{},
                on.device,
                {.batch_size = batch_size,
                 .readers = 1,
                 .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}}};
  std::thread bus{[&] {
    for (int i = 0; i < 16; ++i) {
      std::this_thread::sleep_for(20ms);
      on.device->allow_copies(1);
    }
  }};
  take_all(loader, 0, on.stream, [&](const batch&) { on.device->drain(on.stream); });
  bus.join();
  const auto seen = loader.statistics();
  CHECK(seen.exposed > seen.consumer.time() / 2);
  INFO(report(seen));
  CHECK(verdict_of(seen) == "copy-bound");
}

TEST_CASE("statistics: batches held in every slot are distinguished from a slow loader",
          "[statistics][host]") {
  loader loader{make_identity_dataset(8 * batch_size, 16),
                sequential{},
                make_host_device(),
                {.batch_size = batch_size,
                 .readers = 1,
                 .expert = {.batches_per_slot = 1, .staging_slots = 2}}};
  auto range = loader.epoch(0);
  auto first = range.next();
  auto second = range.next();
  REQUIRE(second);
  std::thread holder{[&loader, batch = std::move(*second)]() mutable {
    while (loader.statistics().consumer.stalled <= 100ms) std::this_thread::yield();
    const auto ended = std::move(batch);
  }};
  const auto third = range.next();
  holder.join();
  REQUIRE(third);
  const auto seen = loader.statistics();
  CHECK(seen.consumer.stalled > 100ms);
  INFO(report(seen));
  CHECK(verdict_of(seen) == "consumer-bound");
}
