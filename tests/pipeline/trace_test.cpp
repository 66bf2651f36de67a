/// Traces: a loader's record of its threads and streams is what they did.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"
#include "support/devices/planned_pipeline.hpp"
#include "support/devices/scripted_device.hpp"
#include "support/devices/wrapped_device.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t batches_per_epoch = 16;

loader_options traced(int readers, std::size_t events = 10'000) {
  return {.batch_size = 16,
          .readers = readers,
          .expert = {.batches_per_slot = 1, .trace_events = events}};
}

std::vector<trace_event> of_lane(const trace& all, const std::string& name) {
  std::vector<trace_event> found;
  for (const trace_event& event : all.events) {
    if (all.lanes.at(event.lane).name.rfind(name, 0) == 0) found.push_back(event);
  }
  return found;
}

std::vector<trace_event> of_activity(std::vector<trace_event> events, trace_activity what) {
  std::erase_if(events, [what](const trace_event& event) { return event.activity != what; });
  return events;
}

/// (epoch, batch) of each event that has a batch, one after the other.
std::vector<std::pair<std::uint64_t, std::uint64_t>> batches_of(
    const std::vector<trace_event>& events) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (const trace_event& event : events) {
    if (event.batch) found.emplace_back(event.epoch, *event.batch);
  }
  return found;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> all_batches(std::uint64_t epochs) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (std::uint64_t batch = 0; batch < batches_per_epoch; ++batch)
      all.emplace_back(epoch, batch);
  }
  return all;
}

void check_lanes_do_not_overlap(const trace& all) {
  std::map<std::uint32_t, std::chrono::nanoseconds> ends;
  for (const trace_event& event : all.events) {
    CAPTURE(all.lanes.at(event.lane).name, event.begin.count());
    CHECK(event.begin <= event.end);
    if (ends.count(event.lane) != 0) CHECK(ends[event.lane] <= event.begin);
    ends[event.lane] = event.end;
  }
}

}  // namespace

TEST_CASE(
    "trace: on every path each batch is read, moved and used, and no lane does two things at once",
    "[statistics][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 1, 3);
  CAPTURE(to_string(by.through), readers);
  loader loader =
      by.load(make_identity_rows(16 * batches_per_epoch, 37), sequential{}, traced(readers));
  CHECK(in_order_and_intact(consume_epochs(loader, by, 1)));
  (void)consume_epochs(loader, by, 1, 1);
  const trace all = loader.trace();
  check_lanes_do_not_overlap(all);
  std::vector<trace_event> consumer;
  std::set<std::pair<std::uint64_t, std::uint64_t>> read;
  std::set<std::pair<std::uint64_t, std::uint64_t>> moved;
  for (const trace_event& event : all.events) {
    const std::string& name = all.lanes[event.lane].name;
    if (name == "consumer" && event.activity == trace_activity::computing)
      consumer.push_back(event);
    if (event.activity == trace_activity::reading && event.batch)
      read.emplace(event.epoch, *event.batch);
    if (event.activity == trace_activity::copying && event.batch)
      moved.emplace(event.epoch, *event.batch);
  }
  CHECK(batches_of(consumer) == all_batches(2));
  const auto whole = all_batches(2);
  CHECK(std::includes(read.begin(), read.end(), whole.begin(), whole.end()));
  CHECK(std::includes(moved.begin(), moved.end(), whole.begin(), whole.end()));
}

TEST_CASE("trace: a batch is read before it is copied, and copied before its stream computes",
          "[statistics][host]") {
  const path_setup by{data_path::stream};
  loader loader = by.load(make_identity_rows(16 * batches_per_epoch, 37), sequential{}, traced(2));
  (void)consume_epochs(loader, by, 1);
  by.on.device->drain(by.stream);
  const trace all = only_epoch(loader.trace(), 0);
  check_lanes_do_not_overlap(all);
  const auto copies = of_lane(all, "copy stream");
  const auto computing = of_activity(of_lane(all, "consumer's stream"), trace_activity::computing);
  CHECK(batches_of(of_activity(copies, trace_activity::copying)) == all_batches(1));
  CHECK(batches_of(computing) == all_batches(1));
  for (const trace_event& copy : of_activity(copies, trace_activity::copying)) {
    CAPTURE(*copy.batch);
    for (const trace_event& read : of_lane(all, "fl-reader")) {
      if (read.batch == copy.batch) CHECK(read.end <= copy.end);
    }
    CHECK(copy.begin <= computing.at(*copy.batch).begin);
  }
  for (const trace_lane& lane : all.lanes) {
    CHECK(lane.kind ==
          (lane.name.find("stream") == std::string::npos ? lane_kind::thread : lane_kind::stream));
  }
}

TEST_CASE("trace: a consumer's stream that waits for a copy is starved", "[statistics][host]") {
  const path_setup by{data_path::stream};
  by.on.device->hold_copies();
  loader loader = by.load(make_identity_rows(64, 37), sequential{}, traced(1));
  {
    auto range = loader.epoch(0, by.stream);
    auto taken = range.next();
    REQUIRE(taken);
    CHECK(of_lane(loader.trace(), "consumer's stream").empty());  // it continues
    by.on.device->allow_all_copies();
    by.on.device->drain(by.stream);
  }
  const auto seen = of_lane(loader.trace(), "consumer's stream");
  REQUIRE(!seen.empty());
  CHECK(seen[0].activity == trace_activity::starved);
  CHECK(seen[0].batch == 0U);
}

TEST_CASE("trace: a copy stream that waits for the consumer's work is stalled",
          "[statistics][host]") {
  const path_setup by{data_path::stream};
  auto options = traced(1);
  options.expert.device_slots = 2;
  options.expert.staging_slots = 3;
  loader loader = by.load(make_identity_rows(64, 37), sequential{}, options);
  by.on.device->hold_work();
  auto range = loader.epoch(0, by.stream);
  for (int i = 0; i < 2; ++i) {
    auto taken = range.next();
    REQUIRE(taken);
    by.on.device->launch(by.stream, [] {});
  }
  by.on.device->wait_for_issued_copies(3);
  by.on.device->allow_all_work();
  while (range.next()) {
  }
  by.on.device->drain(by.stream);
  CHECK(!of_activity(of_lane(loader.trace(), "copy stream"), trace_activity::stalled).empty());
}

TEST_CASE("trace: work of the stream after an epoch that was left is not recorded",
          "[statistics][host]") {
  const path_setup by{data_path::stream};
  loader loader = by.load(make_identity_rows(16 * batches_per_epoch, 37), sequential{}, traced(1));
  {
    auto range = loader.epoch(0, by.stream);
    REQUIRE(range.next());
  }
  (void)consume_epochs(loader, by, 1, 1);
  by.on.device->drain(by.stream);
  const auto computing =
      of_activity(of_lane(loader.trace(), "consumer's stream"), trace_activity::computing);
  REQUIRE(!computing.empty());
  CHECK(computing[0].epoch == 1);
}

TEST_CASE("trace: each lane keeps the newest events, as many as asked for", "[statistics][host]") {
  const path_setup by{data_path::in_place};
  loader loader =
      by.load(make_identity_rows(16 * batches_per_epoch, 37), sequential{}, traced(0, 3));
  (void)consume_epochs(loader, by, 2);
  const trace all = loader.trace();
  const auto consumer = of_lane(all, "consumer");
  CHECK(consumer.size() <= 3 * 3);
  for (const trace_lane& lane : all.lanes) {
    CAPTURE(lane.name);
    CHECK(of_lane(all, lane.name).size() >= 3);
    CHECK(lane.dropped >= batches_per_epoch);
  }
  CHECK(consumer.back().epoch == 1);
}

TEST_CASE("trace: without the option there is none, and the error says how to get one",
          "[statistics][host]") {
  const path_setup by{data_path::in_place};
  loader loader = by.load(make_identity_rows(64, 37), sequential{}, traced(0, 0));
  CHECK(message_of<usage_error>([&] { (void)loader.trace(); }) ==
        "loader_options::expert.trace_events is 0, so there is no trace: say how many activities "
        "of each "
        "thread are to be kept, such as 100000");
  CHECK(message_of<usage_error>([] { (void)validated(traced(0, 10'000'001)); }) ==
        "loader_options::expert.trace_events is 10000001: say 0 (no trace) to 10000000");
}

TEST_CASE("trace: it can be taken by another thread at any time", "[statistics][host]") {
  const path_setup by{GENERATE(data_path::in_place, data_path::stream)};
  loader loader =
      by.load(make_identity_rows(16 * batches_per_epoch, 37), sequential{}, traced(2, 20));
  std::atomic<bool> done{false};
  std::uint64_t overlaps = 0;
  std::thread watcher{[&] {
    do {
      const trace all = loader.trace();
      for (std::size_t i = 1; i < all.events.size(); ++i) {
        if (all.events[i].lane == all.events[i - 1].lane &&
            all.events[i].begin < all.events[i - 1].end)
          ++overlaps;
      }
    } while (!done.load());
  }};
  (void)consume_epochs(loader, by, 20);
  done.store(true);
  watcher.join();
  CHECK(overlaps == 0);
}

TEST_CASE("trace: batches, and the stream's work, may outlive a traced loader",
          "[statistics][host]") {
  const path_setup by{data_path::stream};
  std::optional<batch> kept;
  {
    loader loader = by.load(make_identity_rows(64, 37), sequential{}, traced(2));
    auto range = loader.epoch(0, by.stream);
    auto taken = range.next();
    REQUIRE(taken);
    kept.emplace(std::move(*taken));
  }
  by.on.device->drain(by.stream);
  CHECK(look_at(*kept).intact);
  kept.reset();
  CHECK(by.on.device->freed_in_use() == 0);
}

namespace {

/// Follows the ranges that each thread begins and ends.
class range_log final : public wrapped_device {
 public:
  using wrapped_device::wrapped_device;
  void begin_range(const char* name) noexcept override {
    const std::scoped_lock lock{mutex_};
    open_[std::this_thread::get_id()].emplace_back(name);
    names_.insert(name);
  }
  void end_range() noexcept override {
    const std::scoped_lock lock{mutex_};
    auto& open = open_[std::this_thread::get_id()];
    if (open.empty()) {
      ++surplus_;
    } else {
      open.pop_back();
    }
  }
  std::set<std::string> names() {
    const std::scoped_lock lock{mutex_};
    return names_;
  }
  /// Ends without a begin, and begins without an end.
  std::size_t faults() {
    const std::scoped_lock lock{mutex_};
    std::size_t count = surplus_;
    for (const auto& [thread, open] : open_) count += open.size();
    return count;
  }

 private:
  std::mutex mutex_;
  std::map<std::thread::id, std::vector<std::string>> open_;
  std::set<std::string> names_;
  std::size_t surplus_ = 0;
};

}  // namespace

TEST_CASE(
    "ranges for profilers: each thread ends the ranges that it begins, which have the stages' "
    "names",
    "[statistics][host]") {
  const int readers = GENERATE(0, 2);
  const path_setup by{
      GENERATE(data_path::in_place, data_path::stream, data_path::gather, data_path::decoded)};
  const std::size_t events = GENERATE(0U, 100U);
  CAPTURE(readers, to_string(by.through), events);
  const auto log = std::make_shared<range_log>(by.device);
  const auto data = make_identity_rows(16 * batches_per_epoch, 37);
  {
    loader loader{stored_for(by.through, data, sequential{}), sequential{}, log,
                  on_data_path(by.through, *data, traced(readers, events))};
    std::uint64_t taken = 0;
    for (batch& batch : loader.epoch(0, by.stream)) taken += batch.size();
    CHECK(taken == 16 * batches_per_epoch);
    auto range = loader.epoch(1, by.stream);
    (void)range.next();
  }
  CHECK(log->faults() == 0);
  CHECK(log->names().count("read") == 1);
  CHECK(log->names().count("transfer") == 1);
  for (const std::string& name : log->names()) {
    CHECK(std::set<std::string>{"read", "transfer", "starved", "stalled", "wait for copy"}.count(
              name) == 1);
  }
}

TEST_CASE("trace: each setting that tuning makes is a mark, the first one too",
          "[statistics][host]") {
  loader_options options{
      .batch_size = 4, .readers = 1, .expert = {.batches_per_slot = 1, .staging_slots = 2}};
  options.expert.tuning = {.max_readers = 3, .max_pinned_bytes = std::size_t{2} * 4 * 256};
  options.expert.trace_events = 100;
  planned_pipeline under_test{make_identity_dataset(403, 37), sequential{}, make_host_device(),
                              options};
  REQUIRE(under_test.plan().staging_slots == 4);
  const auto run = under_test.claim(0, {});
  std::vector<batch> held;  // each that is held takes a slot away, so that tuning gives another
  for (int i = 0; i < 4; ++i) held.push_back(under_test.next(run, {}).value());
  const std::vector<trace_mark> marks = under_test.trace().marks;
  std::vector<std::string> texts;
  for (const trace_mark& mark : marks) texts.push_back(mark.text);
  CHECK(texts == std::vector<std::string>{"readers 1, staging slots 2",
                                          "readers 1, staging slots 3",
                                          "readers 1, staging slots 4"});
  CHECK(std::chrono::nanoseconds{0} <= marks.front().at);
  CHECK(std::is_sorted(marks.begin(), marks.end(),
                       [](const trace_mark& a, const trace_mark& b) { return a.at < b.at; }));
}

TEST_CASE("trace: the last mark has tuning's last setting", "[statistics][host]") {
  loader_options options{.batch_size = 4, .readers = 1, .expert = {.batches_per_slot = 1}};
  options.expert.tuning = {.max_readers = 6};
  options.expert.trace_events = 100;
  planned_pipeline under_test{make_identity_dataset(403, 37), sequential{}, make_host_device(),
                              options};
  under_test.tune_eagerly();
  const auto run = under_test.claim(0, {});
  while (under_test.next(run, {})) {
  }
  const tuning_statistics set = under_test.statistics().tuning;
  const std::vector<trace_mark> marks = under_test.trace().marks;
  CHECK(marks.size() > 1);
  REQUIRE(!marks.empty());
  CHECK(marks.back().text == "readers " + std::to_string(set.readers) + ", staging slots " +
                                 std::to_string(set.staging_slots));
}

TEST_CASE("trace: without tuning it has no mark", "[statistics][host]") {
  const loader loader{make_identity_dataset(64, 8), sequential{}, make_host_device(), traced(1)};
  CHECK(loader.trace().marks.empty());
}
