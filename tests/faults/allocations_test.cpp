/// The host has no memory: for each n the n-th allocation fails, on whatever thread, and those
/// after it or not, until no allocation is left that could fail.

#include <feedline/error.hpp>

#include "faults/starved_loader.hpp"
#include "faults/system_calls.hpp"

#include <cstdint>
#include <new>
#include <optional>

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
