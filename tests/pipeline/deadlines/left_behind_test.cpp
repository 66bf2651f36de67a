/// Destruction within a limit, where a read hangs.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/cpu_budget.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "detail/threads.hpp"
#include "device/deferred_free.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/hanging_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/planned_pipeline.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

using namespace feedline;
using namespace feedline::test;

namespace {

/// One batch of one sample a slot; destruction waits for 20 ms.
loader_options impatient(int readers) {
  return {.batch_size = 1,
          .readers = readers,
          .expert = {.batches_per_slot = 1,
                     .staging_slots = 3,
                     .leave_reads_after = std::chrono::milliseconds{20}}};
}

/// A loader with a read that hangs, and its objects that survive it.
struct hanging_loader {
  hanging_loader(data_path through, int readers) : by{through} {
    under_test.emplace(by.load(hanging.data, sequential{}, impatient(readers)));
    range.emplace(under_test->epoch(0, by.stream));
    first = range->next();
    hanging.gate->await_reader();
    dataset = hanging.data;
    hanging.data.reset();
  }
  /// Blocks until the abandoned read has returned, and everything that it held is freed.
  void let_return() {
    hanging.gate->open();
    detail::poll_until([&] {
      detail::free_deferred();
      return dataset.expired();
    });
  }

  path_setup by;
  hanging_dataset hanging{make_identity_rows(32, 8), 1};
  std::weak_ptr<const feedline::dataset> dataset;
  std::optional<loader> under_test;
  std::optional<epoch_range> range;
  std::optional<batch> first;
};

}  // namespace

TEST_CASE(
    "destruction: abandons a read that takes longer than its limit, says which, and the read frees "
    "all it used when it returns",
    "[loader][host]") {
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(1, 3);
  const bool assigned = GENERATE(false, true);
  CAPTURE(to_string(through), readers, assigned);
  const log_capture log{spdlog::level::err};
  hanging_loader on{through, readers};
  const auto began = std::chrono::steady_clock::now();
  if (assigned) {
    *on.under_test = loader{make_identity_rows(4, 8), sequential{}, make_host_device(), {}};
  } else {
    on.under_test.reset();
  }
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(took >= std::chrono::milliseconds{20});
  CHECK(took < std::chrono::seconds{10});
  CHECK_FALSE(on.dataset.expired());
  CHECK(log.lines() == 1);
  const std::string told = log.text();
  CAPTURE(told);
  CHECK(told.find("~loader: gave up after waiting 20 ms for the loader's threads: reader ") !=
        std::string::npos);
  CHECK(told.find(" of " + std::to_string(readers) +
                  " reads sample 1 (epoch 0, batch 1), in a request that it began ") !=
        std::string::npos);
  CHECK(told.find(" ago. The dataset, the device and ") != std::string::npos);
  CHECK(told.find(" bytes of staging memory stay until they end") != std::string::npos);

  CHECK_FALSE(on.range->next());
  CHECK(on.first->samples().front().value == 0);
  on.range.reset();
  on.first.reset();
  on.let_return();
  if (through == data_path::in_place) return;
  detail::poll_until([&] { return on.by.on.device->allocated_bytes(memory_kind::staging) == 0; });
  CHECK(on.by.on.device->allocated_bytes(memory_kind::device) == 0);
  CHECK(on.by.on.device->freed_in_use() == 0);
}

TEST_CASE(
    "destruction: a range or batch that outlives the loader may end before or after an abandoned "
    "read",
    "[loader][batch][host]") {
  const data_path through =
      GENERATE(data_path::in_place, data_path::stream, data_path::transformed);
  CAPTURE(to_string(through));
  const log_capture log{spdlog::level::err};
  hanging_loader on{through, 2};
  on.under_test.reset();
  SECTION("after it") {
    on.hanging.gate->open();
    const std::weak_ptr<const dataset>& kept = on.dataset;
    CHECK_FALSE(on.range->next());
    on.range.reset();
    detail::poll_until([&] { return kept.expired(); });
    if (through == data_path::in_place) CHECK(look_at(*on.first).samples.front() == 0);
    on.first.reset();
  }
  SECTION("before it") {
    on.first.reset();
    on.range.reset();
    on.let_return();
  }
}

TEST_CASE(
    "destruction: end_within waits no longer than it is told, again and again, and then "
    "destruction "
    "does not wait",
    "[loader][host]") {
  using std::chrono::milliseconds;
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  CAPTURE(to_string(by.through));
  auto options = impatient(2);
  options.expert.leave_reads_after = GENERATE(milliseconds{0}, milliseconds{600'000});
  const log_capture log;
  hanging_dataset hanging{make_identity_rows(32, 8), 1};
  const std::weak_ptr<const dataset> dataset = hanging.data;
  std::optional<loader> under_test{
      by.load(std::exchange(hanging.data, nullptr), sequential{}, options)};
  {
    const auto range = under_test->epoch(0, by.stream);
    hanging.gate->await_reader();
    CHECK_FALSE(under_test->end_within(milliseconds{0}));
    CHECK_FALSE(under_test->end_within(milliseconds{20}));
    CHECK(log.lines() == 0);
  }
  SECTION("a read that has ended is joined") {
    hanging.gate->open();
    CHECK(under_test->end_within(std::chrono::minutes{10}));
    CHECK(under_test->end_within(milliseconds{0}));
    under_test.reset();
    CHECK(dataset.expired());
    CHECK(log.lines() == 0);
  }
  SECTION("a read that has not is left") {
    under_test.reset();
    CHECK_FALSE(dataset.expired());
    CHECK(log.lines() == 1);
    CHECK(log.text().find("~loader: gave up after waiting ") != std::string::npos);
    hanging.gate->open();
    detail::poll_until([&] {
      detail::free_deferred();
      return dataset.expired();
    });
  }
}

TEST_CASE("destruction: a read that returns within the limit is not abandoned", "[loader][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  CAPTURE(to_string(by.through));
  const log_capture log;
  auto options = impatient(2);
  options.expert.leave_reads_after = std::chrono::minutes{10};
  hanging_dataset hanging{make_identity_rows(32, 8), 1};
  const std::weak_ptr<const dataset> dataset = hanging.data;
  {
    loader loader = by.load(std::exchange(hanging.data, nullptr), sequential{}, options);
    const auto range = loader.epoch(0, by.stream);
    hanging.gate->await_reader();
    hanging.gate->open();
  }
  CHECK(dataset.expired());
  CHECK(log.lines() == 0);
}

TEST_CASE("destruction: without a limit it waits for a read to its end, and the log says for which",
          "[loader][host]") {
  hanging_dataset hanging{make_identity_rows(32, 8), 1};
  log_capture log;
  std::optional<planned_pipeline> waiting{std::in_place, hanging.data, sequential{},
                                          make_host_device(),
                                          loader_options{.batch_size = 1, .readers = 1}};
  waiting->set({.before_refusal = std::chrono::milliseconds{1},
                .before_warning = std::chrono::milliseconds{1}});
  const auto run = waiting->claim(0, {});
  hanging.gate->await_reader();
  std::thread opener{[&] {
    log.await_line();
    hanging.gate->open();
  }};
  waiting.reset();
  opener.join();
  CHECK(log.text().find(
            "~loader: has waited 1 ms for the loader's threads: reader 1 of 1 reads sample 1 "
            "(epoch 0, batch 1), in a request that it began ") != std::string::npos);
  CHECK(log.text().find(
            " ago. It keeps waiting; loader_options::expert.leave_reads_after sets a limit") !=
        std::string::npos);
}

TEST_CASE("destruction: an abandoned read gives back its turn under the CPU budget",
          "[loader][host]") {
  struct budget {
    budget() { set_cpu_budget(1); }
    ~budget() { set_cpu_budget(0); }
  } const one;
  const log_capture log{spdlog::level::err};
  // One reader: a second one could take the only turn for sample 1, and sample 0 would wait for it.
  hanging_loader on{data_path::in_place, 1};
  on.under_test.reset();
  loader next{make_identity_rows(32, 8), sequential{}, make_host_device(), impatient(2)};
  auto range = next.epoch(0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  std::uint64_t count = 0;
  while (const auto batch = range.next(deadline)) CHECK(batch->index() == count++);
  CHECK(count == 32);
  on.range.reset();
  on.let_return();
  CHECK(next.epoch(1).next());  // no turn was given back twice
}
