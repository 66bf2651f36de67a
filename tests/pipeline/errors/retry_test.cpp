/// Reads that fail are tried again: storage that hiccups costs time, and nothing else.

#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/data_paths.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

using namespace feedline;
using namespace feedline::test;
using namespace std::chrono_literals;

namespace {

/// A dataset whose samples fail so often, each, before they can be read; and how often each was
/// asked for.
struct hiccups {
  std::map<std::uint64_t, int> failures;
  std::map<std::uint64_t, int> asked = {};
  std::mutex mutex = {};

  dataset_ptr data(std::uint64_t samples) {
    return gated(make_identity_rows(samples, 8), [this](std::span<const sample_index> run) {
      const std::scoped_lock lock{mutex};
      for (const sample_index each : run) ++asked[each.value];
      for (const sample_index each : run) {
        if (failures[each.value] == 0) continue;
        --failures[each.value];
        throw dataset_error{{"nfs/part-1.bin", "row", each.value}, "input/output error"};
      }
    });
  }
};

/// A dataset of which nothing can be read; a promise is kept when it is tried.
struct unreadable {
  std::promise<void> tried;
  std::atomic<bool> first{true};
  dataset_ptr data = gated(make_identity_rows(64, 8), [this](std::span<const sample_index> run) {
    if (run.front().value != 0) return;
    if (first.exchange(false)) tried.set_value();
    throw dataset_error{{}, "input/output error"};
  });
};

error_policy retrying(error_action action, int retries) {
  return {.action = action, .retries = retries, .first_pause = 1ms, .max_share = 1};
}

}  // namespace

TEST_CASE("retry: a read that succeeds when it is tried again leaves no trace but a count",
          "[reader][host]") {
  const log_capture heard;
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  const auto action = GENERATE(error_action::fail, error_action::skip, error_action::substitute);
  CAPTURE(to_string(by.through), readers, static_cast<int>(action));
  hiccups storage{{{5, 1}, {14, 2}}};
  loader loader = by.load(storage.data(20), sequential{},
                          {.batch_size = 4, .readers = readers, .errors = retrying(action, 2)});
  CHECK(take_epochs(loader, by, 0, 1).batches ==
        in_batches(order_of_epoch(sequential{}, 20, 0), 4));
  CHECK(loader.failures().count == 0);
  CHECK(loader.failures().recovered_reads == 2);
  const auto is_told_of = [&](const std::string& sample) {
    return heard.text().find(
               "a read failed and is tried again in 1 ms, for time 1 of 2: "
               "nfs/part-1.bin: field 'row', sample " +
               sample + ": input/output error") != std::string::npos;
  };
  // If two readers fail within a second, only one is logged.
  CHECK((is_told_of("5") || (readers == 2 && is_told_of("14"))));
}

TEST_CASE(
    "retry: a read that fails every time is tried as often as asked for, then the action follows",
    "[reader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  const int retries = GENERATE(0, 1, 3);
  hiccups storage{{{5, 1000}}};
  // Without a fixed cut, a slot that readers take slowly is cut into requests of a sample each.
  loader loader = by.load(storage.data(20), sequential{},
                          {.batch_size = 4,
                           .readers = 1,
                           .errors = retrying(error_action::skip, retries),
                           .expert = {.batches_per_slot = 1, .request_bytes = 1000}});
  CHECK(take_epochs(loader, by, 0, 1).batches[1] == std::vector<std::uint64_t>{4, 19, 6, 7});
  CHECK(loader.failures().count == 1);
  CHECK(storage.asked[5] == 1 + retries);  // once with its run
  CHECK(storage.asked[6] == 2);            // and once alone
}

TEST_CASE(
    "retry: tries are counted by sample: the result of one does not depend on the request that it "
    "is read with",
    "[reader][host]") {
  const log_capture unheard;
  const path_setup by{GENERATE(data_path::in_place, data_path::stream, data_path::transformed,
                               data_path::cached_half)};
  const std::uint64_t batch_size = GENERATE(1U, 5U, 64U);
  const std::size_t request_bytes = GENERATE(1U, 1'000'000U);
  const int readers = GENERATE(0, 2);
  const int retries = GENERATE(0, 1, 3);
  const auto action = GENERATE(error_action::fail, error_action::skip, error_action::substitute);
  static combinations cases;
  if (!cases.takes_next()) return;
  CAPTURE(to_string(by.through), batch_size, request_bytes, readers, retries,
          static_cast<int>(action));
  // Replacements from the end can be read at once.
  hiccups storage;
  sample_set bad;
  std::uint64_t recovered = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const int failures = static_cast<int>(i * 7 % 5);
    storage.failures[i] = failures;
    if (failures > retries) bad.insert(i);
    if (failures != 0 && failures <= retries) ++recovered;
  }
  auto errors = retrying(action, retries);
  errors.first_pause = 0ms;
  errors.substitute = 63;
  loader loader = by.load(storage.data(80), sequential{},
                          {.batch_size = batch_size,
                           .readers = readers,
                           .errors = errors,
                           .expert = {.request_bytes = request_bytes}});
  const auto order = order_of_epoch(sequential{}, 80, 0);
  if (action == error_action::fail && !bad.empty()) {
    auto range = loader.epoch(0, by.stream);
    std::uint64_t taken = 0;
    try {
      while (range.next()) ++taken;
      FAIL("no sample ended the epoch");
    } catch (const stage_error& failure) {
      CHECK(failure.where().sample == *bad.begin());
    }
    CHECK(taken == *bad.begin() / batch_size);
    return;
  }
  const auto expected = action == error_action::skip ? skipping(order, bad).delivered
                                                     : substituting(order, bad, 63).delivered;
  CHECK(take_epochs(loader, by, 0, 1).batches == in_batches(expected, batch_size));
  CHECK(loader.failures().count == bad.size());
  CHECK(loader.failures().recovered_reads == recovered);
}

TEST_CASE(
    "retry: storage of which each hundredth read of a sample fails loses none in large batches",
    "[reader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  const auto action = GENERATE(error_action::fail, error_action::skip, error_action::substitute);
  const std::uint64_t batch_size = GENERATE(1U, 256U);
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> asked;
  std::uint64_t failed = 0;
  const auto data = gated(make_identity_rows(10'240, 8), [&](std::span<const sample_index> run) {
    const std::scoped_lock lock{mutex};
    for (const sample_index each : run) {
      const std::uint64_t draw = (each.value * 31 + asked[each.value]++) * 0x9E3779B97F4A7C15U;
      if ((draw >> 32U) % 100 != 0) continue;
      ++failed;
      throw dataset_error{{"nfs/part-1.bin", "row", each.value}, "input/output error"};
    }
  });
  auto errors = retrying(action, 8);
  errors.first_pause = 0ms;
  errors.max_share = 0;
  loader loader = by.load(data, sequential{},
                          {.batch_size = batch_size,
                           .readers = 2,
                           .errors = errors,
                           .expert = {.request_bytes = 1'000'000}});
  CHECK(take_epochs(loader, by, 0, 1).batches ==
        in_batches(order_of_epoch(sequential{}, 10'240, 0), batch_size));
  CHECK(loader.failures().count == 0);
  CHECK(failed > 50);
}

TEST_CASE(
    "retry: an error that names no sample counts as no sample's try, and reading each alone is one",
    "[reader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  const auto action = GENERATE(error_action::fail, error_action::skip);
  std::mutex mutex;
  std::map<std::uint64_t, int> alone;
  const auto data = gated(make_identity_rows(8, 8), [&](std::span<const sample_index> run) {
    const std::scoped_lock lock{mutex};
    if (run.size() > 1)
      throw dataset_error{{.path = "nfs/part-1.bin", .field = {}}, "input/output error"};
    if (++alone[run.front().value] == 1 && run.front().value == 2)
      throw dataset_error{{.path = "nfs/part-1.bin", .field = {}}, "input/output error"};
  });
  loader loader = by.load(data, sequential{},
                          {.batch_size = 4,
                           .readers = 1,
                           .errors = retrying(action, 1),
                           .expert = {.batches_per_slot = 1, .request_bytes = 1'000}});
  CHECK(take_epochs(loader, by, 0, 1).batches == in_batches(order_of_epoch(sequential{}, 8, 0), 4));
  CHECK(alone == std::map<std::uint64_t, int>{
                     {0, 1}, {1, 1}, {2, 2}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}});
  CHECK(loader.failures().recovered_reads == 2);  // sample 2, and the second run
}

TEST_CASE("retry: a read that succeeds reads its samples once, in one call", "[reader][host]") {
  const path_setup by{data_path::stream};
  std::atomic<int> calls{0};
  loader loader =
      by.load(gated(make_identity_rows(64, 8), [&](std::span<const sample_index>) { ++calls; }),
              sequential{},
              {.batch_size = 16,
               .readers = 1,
               .errors = retrying(GENERATE(error_action::fail, error_action::skip), 3),
               .expert = {.batches_per_slot = 1, .request_bytes = 1'000}});
  CHECK(take_epochs(loader, by, 0, 1).batches.size() == 4);
  CHECK(calls == 4);
}

TEST_CASE("retry: an epoch that is to fail does so after the last try", "[reader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  hiccups storage{{{5, 3}}};
  loader loader = by.load(storage.data(20), sequential{},
                          {.batch_size = 4,
                           .readers = 1,
                           .errors = retrying(error_action::fail, 2),
                           .expert = {.batches_per_slot = 1, .request_bytes = 1000}});
  auto range = loader.epoch(0, by.stream);
  CHECK(range.next());
  CHECK_THROWS_AS((void)range.next(), stage_error);
  CHECK(storage.failures[5] == 0);
}

TEST_CASE("retry: a sample from the epoch's end is tried again too", "[reader][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  // Sample 39 is read when it replaces sample 1, long before its own turn.
  hiccups storage{{{1, 1000}, {39, 1}}};
  loader loader = by.load(storage.data(40), sequential{},
                          {.batch_size = 4,
                           .readers = no_readers,
                           .errors = retrying(error_action::skip, 1),
                           .expert = {.batches_per_slot = 1}});
  CHECK(take_epochs(loader, by, 0, 1).batches[0] == std::vector<std::uint64_t>{0, 39, 2, 3});
  CHECK(loader.failures().count == 1);
  CHECK(loader.failures().recovered_reads == 1);
}

TEST_CASE("retry: stopping and destroying a loader end a pause", "[loader][host]") {
  const log_capture unheard;
  const auto action = GENERATE(error_action::fail, error_action::skip);
  const bool stops = GENERATE(true, false);
  unreadable storage;
  auto policy = retrying(action, 3);
  policy.first_pause = policy.max_pause = 24h;
  const path_setup by{data_path::in_place};
  auto under_test = std::make_unique<loader>(
      by.load(storage.data, sequential{}, {.batch_size = 4, .readers = 2, .errors = policy}));
  auto range = under_test->epoch(0);
  storage.tried.get_future().wait();
  if (stops) {
    under_test->stop();
    CHECK_FALSE(range.next());
  }
  under_test.reset();  // joins the reader that pauses
}

TEST_CASE("retry: with no readers, another thread's stop ends the pause in the consumer's step",
          "[loader][host]") {
  const log_capture unheard;
  unreadable storage;
  auto policy = retrying(error_action::skip, 3);
  policy.first_pause = policy.max_pause = 24h;
  const path_setup by{data_path::in_place};
  loader loader = by.load(storage.data, sequential{},
                          {.batch_size = 4, .readers = no_readers, .errors = policy});
  std::thread other{[&] {
    storage.tried.get_future().wait();
    loader.stop();
  }};
  auto range = loader.epoch(0);
  CHECK_FALSE(range.next());
  other.join();
}

TEST_CASE("retry: leaving an epoch ends a pause in it, and the next one comes", "[loader][host]") {
  const log_capture unheard;
  std::promise<void> tried;
  std::atomic<int> asked{0};
  const auto data = gated(make_identity_rows(64, 8), [&](std::span<const sample_index> run) {
    if (run.front().value != 0 || asked++ != 0) return;
    tried.set_value();
    throw dataset_error{{}, "input/output error"};
  });
  auto policy = retrying(error_action::skip, 3);
  policy.first_pause = policy.max_pause = 24h;
  const path_setup by{data_path::in_place};
  loader loader = by.load(data, sequential{}, {.batch_size = 4, .readers = 1, .errors = policy});
  {
    const auto left = loader.epoch(0);
    tried.get_future().wait();
  }
  CHECK(take_epochs(loader, by, 1, 2).batches.size() == 16);
}
