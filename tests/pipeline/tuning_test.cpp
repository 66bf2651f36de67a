/// A loader whose readers and staging slots change while it works.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/class_balanced.hpp>
#include <feedline/sampler/mixture.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/sampler/take.hpp>
#include <feedline/sampler/weighted.hpp>

#include "detail/threads.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/planned_pipeline.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t samples = 403;

/// Small slots, and a budget of six readers and eight slots of them.
loader_options tuned(int readers = 1) {
  loader_options options{.batch_size = 4, .readers = readers};
  options.expert.batches_per_slot = 1;
  options.expert.staging_slots = 2;
  options.expert.tuning = {.max_readers = 6, .max_pinned_bytes = 8 * 4 * 256};
  return options;
}
loader_options untuned() {
  loader_options options = tuned(no_readers);
  options.expert.tuning = {};
  return options;
}

/// The same where blocks are decoded: a slot has room for one, and the budget for slots of one.
loader_options for_way(data_path through, loader_options options) {
  if (through != data_path::decoded) return options;
  options.expert.piece_bytes = 1;
  options.expert.tuning.max_pinned_bytes *= 2;
  return options;
}

/// A pipeline that is tuned at every fourth slot, and a consumer that writes down what it gets.
struct consumer {
  consumer(const path_setup& on, const dataset_ptr& data, const sampler& order,
           const loader_options& options)
      : by{on},
        record{on.looks()},
        under_test{std::make_shared<planned_pipeline>(
            stored_for(by.through, data, order), order, by.device,
            on_data_path(by.through, *data, for_way(by.through, options)))} {
    under_test->tune_eagerly();
  }

  /// This many batches of an epoch, or all; then it is left.
  void take_from(std::uint64_t epoch, std::uint64_t most = samples) {
    const auto run = under_test->claim(epoch, by.stream);
    for (std::uint64_t i = 0; i < most; ++i) {
      const auto taken = under_test->next(run, by.stream);
      if (!taken) return;
      record(*taken);
      settings.insert(
          {under_test->statistics().tuning.readers, under_test->statistics().tuning.staging_slots});
    }
    under_test->abandon(run);
  }

  path_setup by;
  recorder record;
  std::shared_ptr<planned_pipeline> under_test;
  std::set<std::pair<std::uint64_t, std::uint64_t>> settings = {};
};

/// Checks that a tuned loader delivers the same as an untuned one without readers, for the same
/// steps.
template <class Steps>
void check_same(data_path through, const dataset_ptr& data, const sampler& order,
                const Steps& steps) {
  consumer reference{path_setup{through}, data, order, untuned()};
  consumer changing{path_setup{through}, data, order, tuned()};
  steps(reference);
  steps(changing);
  CHECK(changing.settings.size() > 1);
  CHECK(changing.record.seen() == reference.record.seen());
  CHECK(all_intact(changing.record.seen()));
}

std::vector<std::pair<std::string, sampler>> orders() {
  std::vector<double> weights;
  std::vector<std::int64_t> labels;
  for (std::uint64_t i = 0; i < samples; ++i) {
    weights.push_back(static_cast<double>(i % 9));
    labels.push_back(static_cast<std::int64_t>(i % 3));
  }
  return {{"sequential", sequential{}},
          {"shuffle", shuffle{.seed = 1}},
          {"weighted", weighted{weights, {.seed = 1}}},
          {"class_balanced", class_balanced{labels, {.seed = 1}}},
          {"mixture", mixture{std::vector<std::uint64_t>{400, 3}, {1, 1}, {.seed = 1}}},
          {"take", take{shuffle{.seed = 1}, 200}}};
}

}  // namespace

TEST_CASE("tuning: the order is that of a loader without readers, on every path, for every sampler",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(reading_data_paths()));
  for (const auto& [name, order] : orders()) {
    INFO(name << ", " << to_string(through));
    check_same(through, make_identity_rows(samples, 37), order, [](consumer& each) {
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) each.take_from(epoch);
    });
  }
}

TEST_CASE("tuning: epochs that are left early, and seeks, do not change the delivered batches",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(reading_data_paths()));
  INFO(to_string(through));
  check_same(through, make_identity_rows(samples, 37), shuffle{.seed = 3}, [](consumer& each) {
    each.take_from(0);
    each.take_from(1, 30);
    const loader_state place = each.under_test->state();
    each.take_from(2, 7);
    each.take_from(3);
    each.under_test->seek(place);
    each.take_from(1);
    each.take_from(2);
  });
}

TEST_CASE("tuning: a sample that cannot be read ends the epoch after the same batch",
          "[loader][host]") {
  const data_path through = GENERATE(from_range(reading_data_paths()));
  INFO(to_string(through));
  std::vector<std::string> message;
  check_same(through, make_damaged(make_identity_rows(samples, 37), sample_index{390}),
             sequential{}, [&](consumer& each) {
               message.push_back(message_of<stage_error>([&] { each.take_from(0); }));
             });
  REQUIRE(message.size() == 2);
  CHECK(message[0].find("checksum mismatch") != std::string::npos);
  CHECK(message[1].find("checksum mismatch") != std::string::npos);
}

TEST_CASE("tuning: readers that rest do not read, and end with the loader", "[loader][host]") {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<bool> gate{false};
  const auto data = gated(make_identity_dataset(samples, 37), [&](auto) {
    const int now = ++inside;
    int before = most.load();
    while (now > before && !most.compare_exchange_weak(before, now)) {
    }
    gate.wait(false);
    --inside;
  });
  loader_options options = tuned(2);
  options.expert.request_bytes = 1;
  loader loader{data, sequential{}, make_host_device(), options};
  CHECK(loader.plan().readers == 6);
  auto epoch = loader.epoch(0);
  while (inside.load() < 2) std::this_thread::yield();
  for (int i = 0; i < 10'000; ++i) std::this_thread::yield();  // others have time to come
  const loader_statistics seen = loader.statistics();
  CHECK(seen.reader.threads == 2);
  CHECK(seen.reader.time() <= 2 * seen.time + 1ms);  // resting readers do not count
  CHECK(most.load() == 2);
  gate.store(true);
  gate.notify_all();
  CHECK(epoch.next());
}

TEST_CASE("tuning: a loader is destroyed, or stops, while readers rest and slots are withheld",
          "[loader][host]") {
  const bool begun = GENERATE(false, true);
  loader loader{make_identity_dataset(samples, 37), sequential{}, make_host_device(), tuned()};
  if (!begun) return;
  auto epoch = loader.epoch(0);
  CHECK(epoch.next());
  loader.stop();
  CHECK_FALSE(epoch.next());
}

TEST_CASE(
    "tuning: a consumer that holds batches in all circulating slots gets more, up to the budget",
    "[loader][host]") {
  planned_pipeline under_test{make_identity_dataset(samples, 37), sequential{}, make_host_device(),
                              tuned()};
  under_test.set({.before_refusal = 1ms, .before_warning = 1h});
  const std::uint64_t all = under_test.plan().staging_slots;
  REQUIRE(all > 3);
  REQUIRE(under_test.plan().first_staging_slots == 2);
  const auto run = under_test.claim(0, {});
  std::vector<batch> held;
  for (std::uint64_t i = 0; i < all; ++i) held.push_back(under_test.next(run, {}).value());
  CHECK(under_test.statistics().tuning.staging_slots == all);
  CHECK(message_of<usage_error>([&] {
          (void)under_test.next(run, {});
        }).find("no batch can be delivered: " + std::to_string(all) + " batches are held") == 0);
  held.clear();
  CHECK(under_test.next(run, {}));
}

TEST_CASE("tuning: without readers, and without a budget, nothing is tuned", "[loader][host]") {
  const auto data = make_identity_dataset(samples, 37);
  const loader without_readers{data, sequential{}, make_host_device(), tuned(no_readers)};
  CHECK_FALSE(without_readers.statistics().tuning.on);
  const loader without_budget{data, sequential{}, make_host_device(), {.readers = 2}};
  CHECK_FALSE(without_budget.statistics().tuning.on);
  CHECK(without_budget.statistics().reader.threads == 2);
}

TEST_CASE("tuning: a budget equal to the first number of readers is tuned, to fewer",
          "[loader][host]") {
  loader_options options{.readers = 2};
  options.expert.tuning.max_readers = 2;
  const loader same{make_identity_dataset(samples, 37), sequential{}, make_host_device(), options};
  CHECK(same.statistics().tuning.on);
}

TEST_CASE("tuning: an automatic number of readers is tuned, if there are cores for more",
          "[loader][host]") {
  const loader automatic{make_identity_dataset(samples, 37), sequential{}, make_host_device(), {}};
  const tuning_statistics seen = automatic.statistics().tuning;
  REQUIRE(seen.on == (detail::usable_cores() > 1));
  if (!seen.on) return;
  CHECK(seen.readers == static_cast<unsigned>(automatic.plan().first_readers));
  CHECK(seen.max_readers == static_cast<unsigned>(automatic.plan().readers));
  CHECK(seen.max_staging_slots == automatic.plan().staging_slots);
}

TEST_CASE("tuning: if reads wait, it comes to many readers, and says why", "[loader][host]") {
  loader_options options{.batch_size = 8, .readers = 1};
  options.expert.tuning = {.max_readers = 16};
  const auto data = gated(make_identity_dataset(8 * 400, 37),
                          [](auto found) { std::this_thread::sleep_for(found.size() * 1ms); });
  loader loader{data, shuffle{.seed = 1}, make_host_device(), options};
  tuning_statistics seen = loader.statistics().tuning;
  CHECK(seen.on);
  CHECK(seen.readers == 1);
  CHECK(seen.max_readers == 16);
  CHECK(seen.why == "nothing is measured yet");
  for (std::uint64_t epoch = 0; epoch < 20 && !seen.settled; ++epoch) {
    for (batch& each : loader.epoch(epoch)) {
      (void)each;
      seen = loader.statistics().tuning;
      if (seen.settled) break;
    }
  }
  INFO(seen.why);
  REQUIRE(seen.settled);
  CHECK(seen.readers >= 4);
  CHECK(seen.searched_batches > 0);
  CHECK(seen.why.find("1 reader, 4 slots: ") != std::string::npos);
}
