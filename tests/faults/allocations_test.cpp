/// The host has no memory: for each n the n-th allocation fails, on whatever thread, and those
/// after it or not, until no allocation is left that could fail.

#include <feedline/error.hpp>

#include "faults/starved_loader.hpp"
#include "faults/system_calls.hpp"

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

struct outcome {
  bool failed = false;  ///< with an error that may come then
  std::uint64_t batches = 0;
  bool intact = true;
  bool in_order = true;
};

/// Consumes what a loader has, from where it stands. Allocates nothing itself.
void consume(loader& loader, std::optional<epoch_range>& range, std::uint64_t& epoch,
             std::uint64_t& next, outcome& seen) {
  for (; epoch < starved_loader::epochs; ++epoch, next = 0, range.reset()) {
    if (!range) range.emplace(loader.epoch(epoch));
    while (const auto taken = range->next()) {
      ++seen.batches;
      seen.intact = seen.intact && is_intact(*taken);
      seen.in_order = seen.in_order && taken->index() == next++;
    }
  }
}

/// The same; keeps all batches, for which there is room.
void keep(loader& loader, std::optional<epoch_range>& range, std::uint64_t& epoch,
          std::vector<batch>& kept) {
  for (; epoch < starved_loader::epochs; ++epoch, range.reset()) {
    if (!range) range.emplace(loader.epoch(epoch));
    while (auto taken = range->next()) kept.push_back(std::move(*taken));
  }
}

/// Makes a loader, keeps all its batches, and destroys it before them, while an allocation fails.
outcome run_keeping(const starved_loader& with, std::uint64_t nth) {
  outcome seen;
  std::vector<batch> kept;
  kept.reserve(starved_loader::batches);
  allocations().arm(nth, 1);
  try {
    loader loader = with.load();
    std::optional<epoch_range> range;
    std::uint64_t epoch = 0;
    try {
      keep(loader, range, epoch, kept);
    } catch (const std::bad_alloc&) {
      keep(loader, range, epoch, kept);
    } catch (const usage_error&) {  // a further slot was refused: nothing is lost
      keep(loader, range, epoch, kept);
    }
  } catch (const std::bad_alloc&) {
    seen.failed = true;
  } catch (const error&) {
    seen.failed = true;
  }
  allocations().disarm();
  for (const batch& each : kept) {
    seen.intact = seen.intact && is_intact(each);
    seen.in_order = seen.in_order && each.epoch() * 4 + each.index() == seen.batches++;
  }
  return seen;
}

/// Makes, consumes and destroys a loader, while some allocations fail.
outcome run(const starved_loader& with, std::uint64_t nth, std::uint64_t times) {
  outcome seen;
  allocations().arm(nth, times);
  try {
    loader loader = with.load();
    std::optional<epoch_range> range;
    std::uint64_t epoch = 0;
    std::uint64_t next = 0;
    try {
      consume(loader, range, epoch, next, seen);
    } catch (const std::bad_alloc&) {
      // Nothing is lost, or the loader has failed and says so.
      allocations().disarm();
      consume(loader, range, epoch, next, seen);
    }
  } catch (const std::bad_alloc&) {
    seen.failed = true;
  } catch (const error&) {  // out_of_memory; stage_error, at each step
    seen.failed = true;
  }
  allocations().disarm();
  return seen;
}

}  // namespace

TEST_CASE("faults: any allocation may fail, while a loader is made, runs and is destroyed",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(data_paths_without_decoder()));
  const int readers = GENERATE(0, 2);
  const std::uint64_t times = GENERATE(1U, 1'000'000U);
  CAPTURE(to_string(through), readers, times);
  const starved_loader with{through, readers};
  REQUIRE(run(with, 1'000'000, 1).batches == starved_loader::batches);  // and warms everything up
  const std::int64_t before = living_blocks();
  std::uint64_t nth = 1;
  std::uint64_t failures = 0;
  for (bool came = true; came && nth < 2000; ++nth) {
    const outcome seen = run(with, nth, times);
    came = allocations().calls() >= nth;
    const std::int64_t left = living_blocks() - before;
    if (seen.failed) ++failures;
    if (left == 0 && seen.intact && seen.in_order &&
        (seen.failed || seen.batches == starved_loader::batches))
      continue;
    CAPTURE(nth, seen.failed, seen.batches, seen.intact, seen.in_order);
    CHECK(left == 0);
    CHECK(seen.intact);
    CHECK(seen.in_order);
    CHECK((seen.failed || seen.batches == starved_loader::batches));
  }
  CHECK(failures > 20);
  CHECK(nth < 2000);
}

TEST_CASE("faults: any allocation may fail while all batches are kept", "[loader][host]") {
  const data_path through =
      GENERATE(data_path::in_place, data_path::stream, data_path::transformed);
  CAPTURE(to_string(through));
  starved_loader with{through, 0};
  with.options.expert.on_held = on_held::allocate;
  with.options.expert.max_held_bytes = 1 << 20;
  with.options.expert.held_warning = [](const std::string&) {};
  REQUIRE(run_keeping(with, 1'000'000).batches == starved_loader::batches);
  const std::int64_t before = living_blocks();
  std::uint64_t nth = 1;
  std::uint64_t refused = 0;
  for (bool came = true; came && nth < 2000; ++nth) {
    const outcome seen = run_keeping(with, nth);
    came = allocations().calls() >= nth;
    const std::int64_t left = living_blocks() - before;
    if (seen.failed) ++refused;
    CAPTURE(nth, seen.failed, seen.batches);
    CHECK(left == 0);
    CHECK(seen.intact);
    CHECK(seen.in_order);
    CHECK((seen.failed || seen.batches == starved_loader::batches));
  }
  CHECK(refused > 20);
  CHECK(refused < nth - 20);
}
