/// A first batch waits for its own samples, and for none that come after it.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t batch_size = 16;
constexpr std::uint64_t batches = 40;

/// Identity data: while the gate is shut, no read of samples after the first batch returns.
struct gate_behind_first {
  dataset_ptr data() {
    return gated(make_identity_rows(batches * batch_size, 16),
                 [this](std::span<const sample_index> samples) {
                   const bool behind = std::any_of(samples.begin(), samples.end(), [](auto sample) {
                     return sample.value >= batch_size;
                   });
                   if (!behind) return;
                   read_behind.store(true);
                   shut.wait(true);
                 });
  }
  void open() {
    shut.store(false);
    shut.notify_all();
  }

  std::atomic<bool> shut{true};
  std::atomic<bool> read_behind{false};
};

/// Takes an epoch of which only the first batch can be read until that was delivered.
std::vector<seen_batch> take_first_alone(loader& loader, const path_setup& by,
                                         gate_behind_first& gate, std::uint64_t epoch) {
  recorder record{by.looks()};
  auto range = loader.epoch(epoch, by.stream);
  auto first = std::async(std::launch::async, [&] { return range.next(); });
  const bool alone = first.wait_for(20s) == std::future_status::ready;
  gate.open();
  CHECK(alone);
  if (auto batch = first.get()) record(*batch);
  while (auto batch = range.next()) record(*batch);
  return record.seen();
}

/// Whether they are all batches of an epoch in a sequential order.
bool is_epoch(const std::vector<seen_batch>& seen) {
  for (std::uint64_t i = 0; i < seen.size(); ++i)
    if (seen[i].index != i || seen[i].samples.front() != i * batch_size) return false;
  return seen.size() == batches && all_intact(seen);
}

}  // namespace

TEST_CASE("loader: the first batch is there once its own samples are read", "[loader][host]") {
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(1, 4);
  CAPTURE(to_string(through), readers);
  gate_behind_first gate;
  const path_setup by{through};
  loader loader =
      by.load(gate.data(), sequential{}, {.batch_size = batch_size, .readers = readers});
  REQUIRE(loader.plan().batches_per_slot > 1);
  CHECK(is_epoch(take_first_alone(loader, by, gate, 0)));
}

TEST_CASE("loader: all readers share the first batch", "[loader][host]") {
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  CAPTURE(to_string(through));
  constexpr int readers = 4;
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;
  bool met = true;
  // A thread that reads samples of the first batch waits there for the others.
  const auto data = gated(make_identity_rows(batches * batch_size, 16), [&](auto samples) {
    if (samples.front().value >= batch_size) return;
    std::unique_lock lock{mutex};
    ++inside;
    changed.notify_all();
    met = changed.wait_for(lock, 20s, [&] { return inside >= readers; }) && met;
  });
  const path_setup by{through};
  loader loader = by.load(data, sequential{}, {.batch_size = batch_size, .readers = readers});
  recorder record{by.looks()};
  for (batch& batch : loader.epoch(0, by.stream)) record(batch);
  CHECK(is_epoch(record.seen()));
  CHECK(met);
}

TEST_CASE("loader: an epoch that is not read ahead gives its first batch as early as the first did",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(reading_data_paths()));
  const int readers = GENERATE(1, 4);
  CAPTURE(to_string(through), readers);
  gate_behind_first gate;
  const path_setup by{through};
  loader loader =
      by.load(gate.data(), sequential{}, {.batch_size = batch_size, .readers = readers});
  gate.open();
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch)
    for (batch& batch : loader.epoch(epoch, by.stream)) (void)batch;
  gate.shut.store(true);
  CHECK(is_epoch(take_first_alone(loader, by, gate, 3)));
}

TEST_CASE("loader: with zero readers nothing after the first batch is read for it",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(reading_data_paths()));
  CAPTURE(to_string(through));
  gate_behind_first gate;
  gate.open();
  const path_setup by{through};
  loader loader = by.load(gate.data(), sequential{}, {.batch_size = batch_size, .readers = 0});
  REQUIRE(loader.plan().batches_per_slot > 1);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    gate.read_behind.store(false);
    auto range = loader.epoch(epoch, by.stream);
    CHECK(range.next().has_value());
    CHECK_FALSE(gate.read_behind.load());
    for (std::uint64_t i = 0; i < 10 * epoch; ++i) (void)range.next();  // and the rest is left
  }
}

TEST_CASE("loader: an epoch that is left has a reader end a quarter of a batch, no more",
          "[loader][host]") {
  std::mutex mutex;
  std::vector<std::vector<std::uint64_t>> reads;
  gate_behind_first gate;
  const dataset_ptr data = gated(gate.data(), [&](std::span<const sample_index> samples) {
    const std::scoped_lock lock{mutex};
    auto& read = reads.emplace_back();
    for (const sample_index sample : samples) read.push_back(sample.value);
  });
  loader_options options{.batch_size = batch_size, .readers = 1};
  options.expert.piece_bytes = batch_size * 20;
  loader loader{data, sequential{}, make_host_device(), options};
  REQUIRE(loader.plan().batches_per_slot == 1);
  REQUIRE(loader.plan().piece_samples == batch_size);
  {
    auto left = loader.epoch(0);
    CHECK(left.next().has_value());
    while (!gate.read_behind.load()) std::this_thread::yield();
  }
  gate.open();
  CHECK(loader.epoch(1).next().has_value());
  const std::scoped_lock lock{mutex};
  REQUIRE(reads.size() >= 6);
  CHECK(reads[4] == std::vector<std::uint64_t>{16, 17, 18, 19});
  CHECK(reads[5] == std::vector<std::uint64_t>{0, 1, 2, 3});
}
