/// The consumer's step with a deadline or a stop token.

#include <feedline/deadline_error.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/cpu_budget.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/overshoot.hpp"
#include "support/checks/recorder.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/datasets/hanging_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using std::chrono::steady_clock;

namespace {

constexpr steady_clock::time_point long_past{};

steady_clock::time_point in(std::chrono::milliseconds time) {
  return steady_clock::now() + time;
}

/// Two slots of one batch of one sample.
loader_options singly(int readers) {
  return {.batch_size = 1,
          .readers = readers,
          .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "deadline: a read that hangs leaves the consumer free, with an error that names the sample, "
    "and delivery continues when it returns",
    "[loader][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(1, 3);
  CAPTURE(to_string(by.through), readers);
  const hanging_dataset hanging{make_identity_rows(32, 8), 20};
  loader_options options = singly(readers);
  if (by.through == data_path::decoded) {
    // The sample's block comes ahead: another reader must be there for the samples before it, whose
    // blocks are not in the same piece.
    if (readers == 1) return;
    options.expert.piece_bytes = 1;
  }
  loader loader = by.load(hanging.data, sequential{}, options);
  auto range = loader.epoch(0, by.stream);
  recorder record{by.looks()};
  for (int i = 0; i < 20; ++i) record(range.next(in(std::chrono::minutes{5})).value());
  hanging.gate->await_reader();
  const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
  CHECK(missed.least < std::chrono::milliseconds{10});
  CHECK(missed.where.epoch == 0);
  CHECK(missed.where.batch == 20);
  CHECK_FALSE(missed.where.all_held);
  CHECK(missed.where.sample == 20U);
  CHECK(missed.longest >= std::chrono::milliseconds{19});
  has(missed.message, "batch 20 of epoch 0 was not ready after ");
  has(missed.message, " of " + std::to_string(readers) +
                          " reads sample 20 (epoch 0, batch 20), in a request that it began ");
  has(missed.message, " ago. Nothing is lost: next() can be called again");
  CHECK(loader.state().batch == 20);
  hanging.gate->open();
  while (const auto batch = range.next(in(std::chrono::minutes{5}))) record(*batch);
  const auto seen = record.seen();
  CHECK(seen.size() == 32);
  CHECK(in_order_and_intact(seen));
}

TEST_CASE("deadline: a replacement sample that hangs is named", "[loader][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const bool skips = GENERATE(true, false);
  CAPTURE(to_string(by.through), skips);
  const hanging_dataset hanging{make_bad_rows(32, {5}), 31};
  loader_options options = singly(1);
  options.errors = {.action = skips ? error_action::skip : error_action::substitute,
                    .substitute = 31};
  loader loader = by.load(hanging.data, sequential{}, options);
  auto range = loader.epoch(0, by.stream);
  for (int i = 0; i < 5; ++i) CHECK(range.next(in(std::chrono::minutes{5})));
  hanging.gate->await_reader();
  const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
  CHECK(missed.where.batch == 5);
  CHECK(missed.where.sample == 31U);
  has(missed.message,
      "the transfer reads sample 31 (epoch 0) instead of one that cannot be read, and began ");
  hanging.gate->open();
  const auto sixth = range.next(in(std::chrono::minutes{5}));
  REQUIRE(sixth);
  CHECK(sixth->samples()[0].value == 31U);
}

TEST_CASE("deadline: the error names the batch that is being read in a request of several",
          "[loader][host]") {
  const hanging_dataset hanging{make_identity_rows(32, 8), 6};
  loader loader{
      hanging.data,
      sequential{},
      make_host_device(),
      {.batch_size = 1, .readers = 1, .expert = {.batches_per_slot = 4, .staging_slots = 2}}};
  auto range = loader.epoch(0);
  for (int i = 0; i < 4; ++i) REQUIRE(range.next());
  hanging.gate->await_reader();
  const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
  CHECK(missed.where.batch == 4);
  CHECK(missed.where.sample == 6U);
  has(missed.message, "reader 1 of 1 reads sample 6 (epoch 0, batch 6), in a request");
  hanging.gate->open();
}

TEST_CASE("deadline: one that has passed takes a ready batch, and asking again makes progress",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 1, 3);
  CAPTURE(to_string(by.through), readers);
  loader loader = by.load(make_identity_rows(64, 8), sequential{},
                          {.batch_size = 4,
                           .readers = readers,
                           .expert = {.batches_per_slot = 2, .request_bytes = 16}});
  recorder record{by.looks()};
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    auto range = loader.epoch(epoch, by.stream);
    for (bool ended = false; !ended;) {
      try {
        const auto batch = range.next(long_past);
        if (batch) record(*batch);
        ended = !batch;
      } catch (const deadline_error&) {
        std::this_thread::yield();
      }
    }
  }
  const auto seen = record.seen();
  REQUIRE(seen.size() == 32);
  CHECK(in_order_and_intact({seen.data(), 16}));
  CHECK(in_order_and_intact({seen.data() + 16, 16}));
}

TEST_CASE(
    "deadline: a consumer that only polls gets the error of a failing read, after the good batches",
    "[loader][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  const auto failing = gated(make_identity_rows(32, 8), [](auto samples) {
    if (samples.front().value == 5) throw std::runtime_error{"no more"};
  });
  loader loader = by.load(failing, sequential{}, singly(readers));
  auto range = loader.epoch(0, by.stream);
  std::uint64_t count = 0;
  for (bool failed = false; !failed;) {
    try {
      count += range.next(long_past) ? 1 : 0;
    } catch (const deadline_error&) {
      std::this_thread::yield();
    } catch (const stage_error& error) {
      failed = true;
      CHECK(error.where().batch == 5);
    }
  }
  CHECK(count == 5);
  CHECK_THROWS_AS((void)range.next(long_past), stage_error);
}

TEST_CASE("deadline: a batch that comes as it passes is neither lost nor delivered twice",
          "[loader][host]") {
  const path_setup by{GENERATE(data_path::in_place, data_path::stream)};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader loader = by.load(make_identity_rows(4'000, 8), sequential{}, singly(readers));
  auto range = loader.epoch(0, by.stream);
  recorder record{by.looks()};
  for (std::uint64_t tries = 0; record.seen().size() < 2'000; ++tries) {
    try {
      record(range.next(steady_clock::now() + std::chrono::microseconds{tries % 60}).value());
    } catch (const deadline_error&) {
      continue;
    }
  }
  CHECK(in_order_and_intact(record.seen()));
}

TEST_CASE("deadline: it is kept while batches are held in every slot, and the error says so",
          "[batch][loader][host]") {
  const path_setup by{GENERATE(from_range(all_data_paths()))};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader loader = by.load(make_identity_rows(16, 8), sequential{}, singly(readers));
  auto range = loader.epoch(0, by.stream);
  std::vector<batch> held;
  for (int i = 0; i < 2; ++i) held.push_back(range.next().value());
  const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
  CHECK(missed.least < std::chrono::milliseconds{10});
  CHECK(missed.where.batch == 2);
  CHECK_FALSE(missed.where.sample.has_value());
  CHECK(missed.where.all_held);
  has(missed.message, "2 batches are held (1 in slot 0, 1 in slot 1), of 2 ");
  held.clear();
  CHECK(range.next(in(std::chrono::minutes{5})).value().index() == 2);
}

TEST_CASE("deadline: if no reader reads, the error tells the states of the staging slots",
          "[loader][host]") {
  const path_setup by{data_path::stream};
  by.on.device->hold_copies();
  loader loader = by.load(make_identity_rows(16, 8), sequential{}, singly(1));
  auto range = loader.epoch(0, by.stream);
  for (int i = 0; i < 2; ++i) REQUIRE(range.next());
  const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
  has(missed.message, "no reader is reading; staging slots: 2 copying. Nothing is lost");
  by.on.device->allow_all_copies();
  CHECK(range.next(in(std::chrono::minutes{5})).value().index() == 2);
}

TEST_CASE("deadline: readers that wait for their turn read nothing, and the error tells the budget",
          "[loader][host]") {
  struct budget {
    budget() { set_cpu_budget(1); }
    ~budget() { set_cpu_budget(0); }
  } const one;
  const hanging_dataset hanging{make_identity_rows(32, 8), 1};
  loader working{hanging.data, sequential{}, make_host_device(), singly(1)};
  const auto unread = working.epoch(0);
  hanging.gate->await_reader();
  loader waiting{make_identity_rows(32, 8), sequential{}, make_host_device(), singly(1)};
  auto range = waiting.epoch(0);
  has(message_of<deadline_error>([&] { (void)range.next(in(std::chrono::milliseconds{1})); }),
      "no reader is reading; staging slots: ");
  has(message_of<deadline_error>([&] { (void)range.next(long_past); }),
      "; readers at work at a time under the CPU budget: 1. Nothing is lost");
  hanging.gate->open();
  CHECK(range.next().value().index() == 0);
}

TEST_CASE(
    "deadline: the error for a thread that reads by itself says that it has not read everything",
    "[loader][host]") {
  loader loader{make_identity_rows(16, 8),
                sequential{},
                make_host_device(),
                {.batch_size = 8, .readers = no_readers, .expert = {.request_bytes = 32}}};
  auto range = loader.epoch(0);
  has(message_of<deadline_error>([&] { (void)range.next(long_past); }),
      "this thread reads by itself (no_readers), and has not read all of it yet");
  CHECK(range.next(in(std::chrono::minutes{5})).value().index() == 0);
}

TEST_CASE("deadline: a read of an epoch that was left is named with its own epoch",
          "[loader][host]") {
  const int readers = GENERATE(1, 2);
  const hanging_dataset hanging{make_identity_rows(32, 8), 1};
  loader loader{hanging.data, sequential{}, make_host_device(), singly(readers)};
  {
    auto left = loader.epoch(7);
    REQUIRE(left.next());
    hanging.gate->await_reader();
  }
  auto range = loader.epoch(8);
  const overshoot missed{[&](auto deadline) { return range.next(deadline); }};
  has(missed.message, "batch 0 of epoch 8 was not ready");
  has(missed.message, "reads sample 1 (epoch 7, batch 1)");
  hanging.gate->open();
  CHECK(range.next(in(std::chrono::minutes{5})).value().index() == 0);
}

TEST_CASE("stop token: a request ends the wait from another thread, and the next call continues",
          "[loader][host]") {
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const bool with_deadline = GENERATE(false, true);
  CAPTURE(to_string(by.through), with_deadline);
  const hanging_dataset hanging{make_identity_rows(32, 8), 2};
  loader loader = by.load(hanging.data, sequential{}, singly(2));
  auto range = loader.epoch(0, by.stream);
  for (int i = 0; i < 2; ++i) REQUIRE(range.next(std::stop_token{}));
  std::stop_source source;
  std::thread stopper{[&] {
    hanging.gate->await_reader();
    source.request_stop();
  }};
  const auto none = with_deadline ? range.next(source.get_token(), in(std::chrono::minutes{5}))
                                  : range.next(source.get_token());
  CHECK_FALSE(none);
  stopper.join();
  hanging.gate->open();
  CHECK(range.next(std::stop_source{}.get_token()).value().index() == 2);
  CHECK_FALSE(range.next(source.get_token()));  // though there may be a batch
  CHECK(range.next().value().index() == 3);
}

TEST_CASE("stop token: a request ends the wait for batches that are held in every slot",
          "[batch][loader][host]") {
  const path_setup by{GENERATE(data_path::in_place, data_path::stream, data_path::transformed)};
  const int readers = GENERATE(0, 2);
  CAPTURE(to_string(by.through), readers);
  loader loader = by.load(make_identity_rows(16, 8), sequential{}, singly(readers));
  auto range = loader.epoch(0, by.stream);
  std::vector<batch> held;
  for (int i = 0; i < 2; ++i) held.push_back(range.next().value());
  std::thread{[&] { held.front() = batch{std::move(held.front())}; }}.join();  // others hold some
  std::stop_source source;
  std::thread stopper{[&] { source.request_stop(); }};
  CHECK_FALSE(range.next(source.get_token()));
  stopper.join();
  held.clear();
  CHECK(range.next().value().index() == 2);
}

TEST_CASE("stop token: a thread that reads by itself looks at it between two requests",
          "[loader][host]") {
  std::stop_source source;
  const auto stopping = gated(make_identity_rows(16, 8), [&](auto) { source.request_stop(); });
  loader loader{stopping,
                sequential{},
                make_host_device(),
                {.batch_size = 8, .readers = no_readers, .expert = {.request_bytes = 32}}};
  auto range = loader.epoch(0);
  CHECK_FALSE(range.next(source.get_token()));
  CHECK(range.next().value().index() == 0);
}
