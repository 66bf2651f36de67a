/// Tests how a budget for tuning changes a loader's plan.

#include <feedline/error.hpp>
#include <feedline/loader/loader_options.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/cores.hpp"
#include "detail/threads.hpp"
#include "loader/plan/resolved_plan.hpp"
#include "staging/request_layout.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

using namespace feedline;
using namespace feedline::test;
using feedline::detail::resolve;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
const device_capabilities with_copies{.name = "gpu"};

/// Options with a budget; `more` changes them.
template <class Change>
loader_options budget(int readers, std::size_t bytes, Change more) {
  loader_options options{.batch_size = 64, .readers = 2};
  options.expert.tuning = {.max_readers = readers, .max_pinned_bytes = bytes};
  more(options);
  return options;
}
loader_options budget(int readers, std::size_t bytes) {
  return budget(readers, bytes, [](loader_options&) {});
}

loader_plan plan(const loader_options& options, const device_capabilities& device = with_copies) {
  return resolve(*make_identity_dataset(600'000, 784), sequential{}, device, options).report;
}
std::string refusal(const loader_options& options) {
  return message_of<usage_error>([&] { (void)plan(validated(options)); });
}

}  // namespace

TEST_CASE("tuned plan: with nothing to tune a loader begins with all that it has",
          "[loader][host]") {
  const loader_plan untuned = plan({.batch_size = 64, .readers = 2});
  CHECK(untuned.first_readers == 2);
  CHECK(untuned.first_staging_slots == untuned.staging_slots);
  CHECK(to_string(untuned).find("tuned") == std::string::npos);
}

TEST_CASE("tuned plan: a loader gets the budget, and begins as it would without",
          "[loader][host]") {
  const loader_plan untuned = plan({.batch_size = 64, .readers = 2});
  const loader_plan tuned = plan(budget(16, 100 * mib));
  CHECK(tuned.readers == 16);
  CHECK(tuned.first_readers == 2);
  CHECK(tuned.slot_bytes == untuned.slot_bytes);
  CHECK(tuned.batches_per_slot == untuned.batches_per_slot);
  CHECK(tuned.staging_slots == 100 * mib / tuned.slot_bytes);
  CHECK(tuned.first_staging_slots == 4);
  CHECK(tuned.staging_bytes <= 100 * mib);
  CHECK(to_string(tuned).find("; 16 readers; tuned, from 2 and 4 staging slots") !=
        std::string::npos);
}

TEST_CASE("tuned plan: an automatic number of readers may double, within the process's cores",
          "[loader][host]") {
  const loader_plan automatic = plan({.batch_size = 64});
  const int cores = static_cast<int>(detail::usable_cores());
  CHECK(automatic.first_readers == std::clamp(cores / 2, 1, 8));
  CHECK(automatic.readers == std::clamp(2 * automatic.first_readers, 1, std::max(cores, 1)));

  // Slots are as deep, and cut as finely, as for the first number.
  const loader_plan kept = plan({.batch_size = 64, .readers = automatic.first_readers});
  CHECK(kept.readers == kept.first_readers);
  CHECK(automatic.staging_slots == kept.staging_slots);
  CHECK(automatic.request_samples == kept.request_samples);
  CHECK(automatic.min_requests == kept.min_requests);

  CHECK(plan({.batch_size = 64, .readers = no_readers}).readers == 0);
}

TEST_CASE("tuned plan: slots are cut as finely as for the readers at first, and never coarser",
          "[loader][host]") {
  const auto requests = [](const loader_options& options, int resting) {
    const auto data = make_identity_dataset(4096, 256);
    const detail::resolved_plan made = resolve(*data, sequential{}, with_copies, options);
    return detail::request_partition{made.slots}.next(4096, resting).requests(4096);
  };
  const int most = plan({.batch_size = 4096}).readers;
  const int first = plan({.batch_size = 4096}).first_readers;
  const std::uint64_t kept = requests({.batch_size = 4096, .readers = first}, 0);
  CHECK(kept >= 4 * static_cast<std::uint64_t>(first));
  CHECK(requests({.batch_size = 4096}, most - first) == kept);
  CHECK(requests({.batch_size = 4096}, 0) == kept);
}

TEST_CASE("tuned plan: an automatic number stays among the cores near the device",
          "[loader][host]") {
  const int first = plan({.batch_size = 64}).first_readers;
  device_capabilities near{.name = "gpu"};
  for (unsigned core = 0; core < static_cast<unsigned>(first); ++core)
    near.near_cores.push_back(detail::allowed_cores().at(core));
  const loader_plan automatic = plan({.batch_size = 64}, near);
  CHECK(automatic.readers == first);
  CHECK(automatic.cores.size() == static_cast<std::size_t>(first));
}

TEST_CASE("tuned plan: limits that the budget does not name are unchanged", "[loader][host]") {
  const loader_plan untuned = plan({.batch_size = 64, .readers = 2});
  const loader_plan readers = plan(budget(16, 0));
  CHECK(readers.readers == 16);
  CHECK(readers.staging_slots == untuned.staging_slots);
  const loader_plan slots = plan(budget(0, 100 * mib));
  CHECK(slots.readers == 2);
  CHECK(slots.first_readers == 2);
  CHECK(slots.staging_slots > untuned.staging_slots);
}

TEST_CASE("tuned plan: a small budget makes pieces small, and a smaller one is refused",
          "[loader][host]") {
  const std::size_t bytes = GENERATE(1 * mib, 3 * mib, 9 * mib, 33 * mib);
  const loader_plan tuned = plan(budget(4, bytes));
  CHECK(tuned.staging_bytes <= bytes);
  CHECK(tuned.first_staging_slots >= 2);
  CHECK(refusal(budget(4, 1'000))
            .find("expert.tuning.max_pinned_bytes is 1000 bytes, but 2 slots of") == 0);
}

TEST_CASE("tuned plan: a budget with room for the first slots is enough, however many readers",
          "[loader][host]") {
  loader_options options = budget(64, 1 * mib);
  options.batch_size = 4096;
  options.memory.cache = 20 * mib;
  const auto data = make_identity_dataset(60'000, 784);
  const loader_plan tuned = resolve(*data, sequential{}, with_copies, options).report;
  CHECK(tuned.placement == placement::cached);
  CHECK(tuned.staging_slots == tuned.first_staging_slots);
  CHECK(tuned.staging_bytes <= mib);
}

TEST_CASE("tuned plan: the budget also holds if slots are assembled on the device",
          "[loader][host]") {
  const auto options = budget(64, 64 * mib, [](loader_options& each) {
    each.transforms = {{.field = "row", .to = element_type::f32}};
  });
  const loader_plan tuned = plan(options);
  REQUIRE(tuned.assembled);
  CHECK(tuned.staging_bytes <= 64 * mib);
  CHECK(tuned.staging_slots > 4);
}

TEST_CASE("tuned plan: automatic readers are no more than the budget's", "[loader][host]") {
  const loader_plan one =
      plan(budget(1, 0, [](loader_options& each) { each.readers = automatic_readers; }));
  CHECK(one.readers == 1);
  CHECK(one.first_readers == 1);
}

TEST_CASE("tuned plan: a dataset that is read by one thread at a time gets no more readers",
          "[loader][host]") {
  const auto serial = gated(
      make_identity_dataset(600, 8), [](std::span<const sample_index>) {},
      read_concurrency::serialized);
  const auto options =
      budget(16, 0, [](loader_options& each) { each.readers = automatic_readers; });
  CHECK(resolve(*serial, sequential{}, with_copies, options).report.readers == 1);
}

TEST_CASE("tuned plan: nothing is tuned where no readers read", "[loader][host]") {
  const loader_plan none =
      plan(budget(16, 0, [](loader_options& each) { each.readers = no_readers; }));
  CHECK(none.readers == 0);
  CHECK_FALSE(none.background);
}

TEST_CASE("tuned plan: a budget that contradicts itself or other options is refused",
          "[loader][host]") {
  CHECK(refusal(budget(-1, 0)) ==
        "loader_options::expert.tuning.max_readers is -1: say 1 to 1024, or 0 to leave readers as "
        "they "
        "are");
  CHECK(refusal(budget(1025, 0)) ==
        "loader_options::expert.tuning.max_readers is 1025: say 1 to 1024, or 0 to leave readers "
        "as they "
        "are");
  CHECK(refusal(budget(1, 0)) ==
        "loader_options::expert.tuning.max_readers is 1, but readers is 2, with which the search "
        "begins: "
        "lower it, or leave it out");
  CHECK(refusal(budget(4, 64 * mib, [](loader_options& each) { each.memory.pinned = 1; })) ==
        "loader_options::memory.pinned and expert.tuning.max_pinned_bytes both limit staging "
        "memory: with tuning, leave out memory.pinned");
  CHECK(refusal(budget(0, 1 * mib, [](loader_options& each) {
          each.expert.staging_slots = 4'096;
        })).find("expert.tuning.max_pinned_bytes is 1048576 bytes, but 4096 slots of") == 0);
}
