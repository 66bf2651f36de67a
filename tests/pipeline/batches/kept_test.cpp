/// Over 250 lines: each promise is a short test on all paths.
///
/// A consumer that keeps batches, while the loader may allocate: the next batches get memory of
/// their own, which is freed when they have ended.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/statistics/statistics.hpp>

#include "pipeline/batches/held_slots.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/recorder.hpp"
#include "support/devices/wrapped_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

/// The host's memory with a fence after each allocation, which nothing may write.
class fenced_host final : public wrapped_device {
 public:
  /// @param copies Whether batches are copied, or read in place.
  explicit fenced_host(bool copies) : wrapped_device{make_host_device()}, copies_{copies} {}
  [[nodiscard]] device_capabilities capabilities() const override {
    return {.name = "fenced", .reads_staging = !copies_};
  }
  [[nodiscard]] void* allocate(memory_kind kind, std::size_t bytes) override {
    void* const memory = wrapped_device::allocate(kind, bytes + fence);
    std::memset(static_cast<std::byte*>(memory) + bytes, 0x5A, fence);
    return memory;
  }
  void free(memory_kind kind, void* memory, std::size_t bytes) noexcept override {
    if (memory == nullptr) return;
    const std::span after{static_cast<std::byte*>(memory) + bytes, fence};
    if (!std::ranges::all_of(after, [](std::byte each) { return each == std::byte{0x5A}; }))
      ++torn_;
    wrapped_device::free(kind, memory, bytes + fence);
  }
  /// How many fences were written.
  [[nodiscard]] int torn() const { return torn_; }

 private:
  static constexpr std::size_t fence = 8192;
  bool copies_;
  std::atomic<int> torn_{0};
};

/// A path to a loader, and its memory without further slots.
struct kept_loader {
  kept_loader(data_path through, int readers, std::uint64_t batches_per_slot,
              std::uint64_t samples = 160)
      : by{through},
        loader{by.load(make_identity_rows(samples, 8), sequential{},
                       keeping(readers, batches_per_slot))},
        own_bytes{device_bytes()} {}

  [[nodiscard]] std::size_t device_bytes() const {
    return by.on.device->allocated_bytes(memory_kind::device);
  }
  [[nodiscard]] held_statistics held() const { return loader.statistics().held; }
  /// All batches that are left of an epoch.
  [[nodiscard]] std::vector<batch> rest(epoch_range& of) const {
    std::vector<batch> kept;
    while (auto taken = of.next()) kept.push_back(std::move(*taken));
    return kept;
  }
  /// Their contents, after all work.
  [[nodiscard]] std::vector<seen_batch> contents(const std::vector<batch>& kept) const {
    if (by.through != data_path::in_place) by.on.device->drain(by.stream);
    std::vector<seen_batch> seen;
    for (const batch& each : kept) seen.push_back(look_at(each));
    return seen;
  }

  path_setup by;
  feedline::loader loader;
  std::size_t own_bytes;
};

}  // namespace

TEST_CASE("kept batches: all batches of an epoch can be kept, and keep their bytes",
          "[batch][loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 2);
  const std::uint64_t batches_per_slot = GENERATE(0U, 1U, 3U);
  CAPTURE(to_string(through), readers, batches_per_slot);
  kept_loader on{through, readers, batches_per_slot};
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    auto range = on.loader.epoch(epoch, on.by.stream);
    std::vector<batch> kept = on.rest(range);
    const auto seen = on.contents(kept);
    CHECK(seen.size() == 20);
    CHECK(in_order_and_intact(seen));
    const held_statistics held = on.held();
    CHECK(held.slots > 0);
    CHECK(held.added >= held.slots);
    CHECK(held.max_bytes >= held.bytes);
    CHECK(held.bytes >= held.slots * on.loader.plan().batch_bytes);
    if (through != data_path::in_place) CHECK(on.device_bytes() == on.own_bytes + held.bytes);
    if (GENERATE(false, true)) std::ranges::reverse(kept);
    kept.clear();
  }
  if (through != data_path::in_place) on.by.on.device->drain(on.by.stream);
  auto range = on.loader.epoch(3, on.by.stream);
  REQUIRE(range.next());
  CHECK(on.held().slots == 0);
  CHECK(on.held().bytes == 0);
  CHECK(on.device_bytes() == on.own_bytes);
  CHECK(on.by.on.device->freed_in_use() == 0);
}

TEST_CASE("kept batches: a loop that keeps none gets no memory beyond the plan", "[loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  kept_loader on{through, readers, 2};
  const std::uint64_t allocations = on.by.on.device->allocations();
  CHECK(consume_epochs(on.loader, on.by, 2).size() == 40);
  CHECK(on.held().added == 0);
  CHECK(on.by.on.device->allocations() == allocations);
}

TEST_CASE("kept batches: a further slot has room for a ticket that is larger than the one before",
          "[batch][loader][host]") {
  const bool copies = GENERATE(false, true);
  const int readers = GENERATE(0, 2);
  CAPTURE(copies, readers);
  const auto device = std::make_shared<fenced_host>(copies);
  {
    loader loader{make_identity_rows(160, 8), sequential{}, device, keeping(readers, 3)};
    std::vector<batch> kept;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {  // each ends with a slot of two batches
      auto range = loader.epoch(epoch);
      while (auto taken = range.next()) kept.push_back(std::move(*taken));
    }
    CHECK(kept.size() == 60);
    for (const batch& each : kept) CHECK(look_at(each).intact);
  }
  CHECK(device->torn() == 0);
}

TEST_CASE("kept batches: giving their memory back waits for no other work on the device",
          "[batch][loader][host]") {
  const data_path through = GENERATE(data_path::stream, data_path::gather, data_path::resident);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  kept_loader on{through, readers, 1};
  const std::uint64_t waits = on.by.on.device->frees_that_wait();
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    auto range = on.loader.epoch(epoch, on.by.stream);
    std::vector<batch> kept = on.rest(range);
    REQUIRE(on.held().slots > 0);
    on.by.on.device->drain(on.by.stream);
    kept.clear();
    on.by.on.device->drain(on.by.stream);
    (void)on.loader.epoch(epoch + 10, on.by.stream).next();
    CHECK(on.held().bytes == 0);
    CHECK(on.by.on.device->frees_that_wait() == waits);
  }
}

TEST_CASE("kept batches: on the host memory is given back when the batch ends", "[loader][host]") {
  const int readers = GENERATE(0, 2);
  CAPTURE(readers);
  kept_loader on{data_path::in_place, readers, 1};
  const std::size_t bytes = on.loader.plan().batch_bytes;
  auto range = on.loader.epoch(0);
  std::vector<batch> kept = on.rest(range);
  CHECK(on.held().slots == 18);
  CHECK(on.held().bytes == 18 * bytes);
  kept.erase(kept.begin() + 2, kept.begin() + 12);
  CHECK(on.held().bytes == 9 * bytes);  // one slot is ready for a consumer that keeps as many
  kept.clear();
  CHECK(on.held().bytes == 0);
  CHECK(on.held().max_bytes == 18 * bytes);
}

TEST_CASE("kept batches: a device's memory is freed after the work issued with the batch",
          "[device][host]") {
  const data_path through = GENERATE(data_path::stream, data_path::transformed, data_path::gather);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  kept_loader on{through, readers, 1};
  recorder record{on.by.looks()};
  auto range = on.loader.epoch(0, on.by.stream);
  std::vector<batch> kept;
  for (int i = 0; i < 10; ++i) kept.push_back(std::move(*range.next()));
  on.by.on.device->drain(on.by.stream);
  const std::size_t bytes = on.held().bytes;
  CHECK(bytes == 8 * on.loader.plan().batch_bytes);
  on.by.on.device->hold_work();
  for (const batch& each : kept) record(each);
  kept.clear();
  CHECK(on.held().bytes == bytes);
  CHECK(on.by.on.device->freed_in_use() == 0);
  on.by.on.device->allow_all_work();
  CHECK(in_order_and_intact(record.seen()));
  for (int i = 0; i < 3; ++i) record(*range.next());
  CHECK(on.held().bytes == 0);
  CHECK(on.device_bytes() == on.own_bytes);
  CHECK(on.by.on.device->freed_in_use() == 0);
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("kept batches: a consumer that always keeps some uses their memory again",
          "[loader][host]") {
  const data_path through =
      GENERATE(data_path::in_place, data_path::stream, data_path::transformed);
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  kept_loader on{through, readers, 1, 1600};
  std::deque<batch> kept;
  std::vector<seen_batch> seen;
  std::uint64_t allocations = 0;
  for (auto& taken : on.loader.epoch(0, on.by.stream)) {
    kept.push_back(std::move(taken));
    if (kept.back().index() == 20) allocations = on.by.on.device->allocations();
    if (kept.size() < 6) continue;
    if (through != data_path::in_place) on.by.on.device->drain(on.by.stream);
    seen.push_back(look_at(kept.front()));
    kept.pop_front();
  }
  CHECK(seen.size() == 195);
  CHECK(in_order_and_intact(seen));
  CHECK(on.held().max_bytes <= 6 * on.loader.plan().batch_bytes);
  if (through != data_path::in_place) CHECK(on.by.on.device->allocations() == allocations);
}

TEST_CASE("kept batches: other threads may end them in any order", "[batch][loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(through), readers);
  kept_loader on{through, readers, 2, 1600};
  recorder record{on.by.looks()};
  auto range = on.loader.epoch(0, on.by.stream);
  std::vector<std::future<void>> threads;
  for (int thread = 0; thread < 8; ++thread) {
    std::vector<batch> some;
    for (int i = 0; i < 25; ++i) {
      some.push_back(std::move(range.next().value()));
      record(some.back());
    }
    threads.push_back(std::async(std::launch::async, [mine = std::move(some)]() mutable {
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(i));  // every other one
      mine.clear();
    }));
  }
  CHECK_FALSE(range.next());
  threads.clear();
  const auto seen = record.seen();
  CHECK(seen.size() == 200);
  CHECK(in_order_and_intact(seen));
  CHECK(on.by.on.device->freed_in_use() == 0);
}

TEST_CASE("kept batches: an epoch may be left, and the loader destroyed, while they are kept",
          "[batch][loader][host]") {
  const data_path through = GENERATE(from_range(all_data_paths()));
  const int readers = GENERATE(0, 2);
  const bool keeps = GENERATE(false, true);
  CAPTURE(to_string(through), readers, keeps);
  const path_setup by{through};
  const std::size_t before = by.on.device->allocated_bytes(memory_kind::device);
  {
    std::vector<batch> kept;
    {
      loader left = by.load(make_identity_rows(160, 8), sequential{}, keeping(readers, 2));
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        auto range = left.epoch(epoch, by.stream);
        for (int i = 0; i < 9; ++i) {
          kept.push_back(std::move(range.next().value()));
          CHECK(kept.back().index() == static_cast<std::uint64_t>(i));
        }
      }
      if (!keeps) kept.clear();
    }
    if (through != data_path::in_place) by.on.device->drain(by.stream);
    for (const batch& each : kept) CHECK(look_at(each).intact);
  }
  CHECK(by.on.device->allocated_bytes(memory_kind::device) == before);
  CHECK(by.on.device->freed_in_use() == 0);
}

TEST_CASE("kept batches: a stream may be captured when they end, and a loop continues meanwhile",
          "[batch][host]") {
  const int readers = GENERATE(0, 2);
  const bool ends = GENERATE(false, true);
  CAPTURE(readers, ends);
  kept_loader on{data_path::stream, readers, 1};
  const stream_ref other = on.by.on.device->make_stream();
  {
    auto range = on.loader.epoch(0, other);
    std::vector<batch> kept;
    for (int i = 0; i < 5; ++i) kept.push_back(std::move(*range.next()));
    on.by.on.device->begin_capture(other);
  }
  if (ends) on.by.on.device->end_capture(other);
  const auto seen = consume_epochs(on.loader, on.by, 1, 1);
  CHECK(seen.size() == 20);
  CHECK(in_order_and_intact(seen));
  if (!ends) on.by.on.device->end_capture(other);
  CHECK(consume_epochs(on.loader, on.by, 1, 2).size() == 20);
  CHECK(on.by.on.device->captured_calls() == 0);
  CHECK(on.by.on.device->freed_in_use() == 0);
}

TEST_CASE("kept batches: tuning continues within its budget", "[loader][host]") {
  loader_options options = keeping(2, 1);
  options.expert.staging_slots = 0;
  options.expert.tuning = {.max_readers = 4};
  planned_pipeline tuned{make_identity_rows(1600, 8), sequential{}, make_host_device(), options};
  tuned.tune_eagerly();
  const auto pass = tuned.claim(0, {});
  std::vector<batch> kept;
  std::vector<seen_batch> seen;
  while (auto taken = tuned.next(pass, {})) kept.push_back(std::move(*taken));
  for (const batch& each : kept) seen.push_back(look_at(each));
  CHECK(seen.size() == 200);
  CHECK(in_order_and_intact(seen));
  const loader_statistics statistics = tuned.statistics();
  CHECK(statistics.held.slots == 200 - tuned.plan().staging_slots);
  CHECK(statistics.tuning.staging_slots <= tuned.plan().staging_slots);
}
