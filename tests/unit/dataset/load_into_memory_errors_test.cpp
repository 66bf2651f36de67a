#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace std::chrono_literals;
using test::message_of;

namespace {

constexpr std::size_t row_bytes = 1000;

/// The samples that are held, in order; each is checked to the last byte.
std::vector<std::uint64_t> ids_of(const dataset& held) {
  const auto rows = held.rows();
  REQUIRE(rows.size() == 3);
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < held.size(); ++i) {
    std::uint64_t id = 0;
    std::memcpy(&id, rows[0].data() + i * sizeof id, sizeof id);
    REQUIRE(test::is_identity(id, rows[0].subspan(i * sizeof id, sizeof id),
                              rows[1].subspan(i * row_bytes, row_bytes)));
    REQUIRE(rows[2][i] == static_cast<std::byte>(id));
    ids.push_back(id);
  }
  return ids;
}

std::vector<std::uint64_t> all_but(std::uint64_t samples, const test::sample_set& bad) {
  std::vector<std::uint64_t> ids;
  for (std::uint64_t i = 0; i < samples; ++i)
    if (bad.count(i) == 0) ids.push_back(i);
  return ids;
}

/// Samples whose first reads fail: that many reads of a run that holds one.
dataset_ptr recovering(std::uint64_t samples, std::map<std::uint64_t, int> failures) {
  struct state {
    std::mutex mutex;
    std::map<std::uint64_t, int> left;
  };
  const auto shared = std::make_shared<state>();
  shared->left = std::move(failures);
  return test::gated(test::make_identity_rows(samples, row_bytes),
                     [shared](std::span<const sample_index> run) {
                       const std::scoped_lock lock{shared->mutex};
                       for (const sample_index each : run) {
                         const auto found = shared->left.find(each.value);
                         if (found != shared->left.end() && found->second-- > 0)
                           throw dataset_error{{"nfs/part-3", "row", each.value}, "stale handle"};
                       }
                     });
}

constexpr error_policy skip_any{.action = error_action::skip, .max_share = 1};

}  // namespace

TEST_CASE(
    "held in memory: samples that cannot be read are left out, and the others keep their "
    "order, whatever the threads",
    "[dataset][host]") {
  constexpr std::uint64_t samples = 5000;
  const test::sample_set bad =
      GENERATE(test::sample_set{}, test::sample_set{0}, test::sample_set{4999},
               test::sample_set{0, 1, 2, 1040, 1041, 4998, 4999},
               test::sample_set{7, 9, 11, 2500, 3333, 3334});
  const int threads = GENERATE(1, 4);
  const test::log_capture log;
  failure_report told;
  const auto held = load_into_memory(
      test::make_bad_rows(samples, bad, row_bytes),
      {.threads = threads, .errors = skip_any, .failures = [&](const auto& all) { told = all; }});
  CHECK(held->size() == samples - bad.size());
  CHECK(ids_of(*held) == all_but(samples, bad));
  CHECK(told.count == bad.size());
  REQUIRE(told.first.size() == bad.size());
  auto expected = bad.begin();
  for (const sample_failure& each : told.first) {
    CHECK(each.sample.value == *expected);
    CHECK(each.position.value == *expected++);
    CHECK(each.path == "disk/part-3.bin");
    CHECK(each.message == "disk/part-3.bin: field 'row', sample " +
                              std::to_string(each.sample.value) + ": bad checksum");
    CHECK(each.action == error_action::skip);
    CHECK_FALSE(each.replaced_by);
  }
  CHECK(log.lines() == (bad.empty() ? 0 : 1));
}

TEST_CASE("held in memory: a random half of the samples is left out", "[dataset][host]") {
  test::sample_set bad;
  for (std::uint64_t i = 0; i < 3000; ++i)
    if ((i * 0x9e3779b97f4a7c15ULL >> 63) != 0) bad.insert(i);
  const test::log_capture log;
  const auto damaged = test::make_chunked(test::make_bad_rows(3000, bad, row_bytes),
                                          {.samples = 70, .bytes = 70'000, .kept = 4});
  CHECK(ids_of(*load_into_memory(damaged, {.threads = 3, .errors = skip_any})) ==
        all_but(3000, bad));
}

TEST_CASE("held in memory: a loader goes through the remaining samples", "[dataset][host]") {
  const test::log_capture log;
  loader loader{
      load_into_memory(test::make_bad_rows(100, {3, 50}, row_bytes), {.errors = skip_any}),
      sequential{},
      make_host_device(),
      {.batch_size = 49}};
  std::vector<std::uint64_t> ids;
  for (const batch& batch : loader.epoch(0)) {
    const auto* id = batch["id"].data<std::uint64_t>();
    ids.insert(ids.end(), id, id + batch.size());
  }
  CHECK(ids == all_but(100, {3, 50}));
}

TEST_CASE("held in memory: a substitute replaces samples that cannot be read", "[dataset][host]") {
  const test::log_capture log;
  failure_report told;
  const auto held =
      load_into_memory(test::make_bad_rows(2000, {0, 1500}, row_bytes),
                       {.threads = 2,
                        .errors = {.action = error_action::substitute, .substitute = 1999},
                        .failures = [&](const auto& all) { told = all; }});
  std::vector<std::uint64_t> expected(2000);
  std::iota(expected.begin(), expected.end(), std::uint64_t{0});
  expected[0] = expected[1500] = 1999;
  CHECK(ids_of(*held) == expected);
  REQUIRE(told.first.size() == 2);
  CHECK(told.first[1].replaced_by == sample_index{1999});
  CHECK(log.text().find("load_into_memory: 2 of 2000 samples cannot be read, and sample 1999 "
                        "replaces them; the first: disk/part-3.bin: field 'row', sample 0: bad "
                        "checksum") != std::string::npos);
}

TEST_CASE("held in memory: a substitute that cannot be read is refused where it is needed",
          "[dataset][host]") {
  const error_policy errors{.action = error_action::substitute, .substitute = 8};
  CHECK(
      message_of<dataset_error>([&] {
        (void)load_into_memory(test::make_bad_rows(100, {3, 8}, row_bytes), {.errors = errors});
      }) ==
      "disk/part-3.bin: field 'row', sample 8: load_into_memory: the substitute cannot be read "
      "either: bad checksum; set load_into_memory_options::errors.substitute to a readable sample");
}

TEST_CASE("held in memory: more unreadable samples than max_share are an error, and nothing waits",
          "[dataset][host]") {
  const auto damaged = test::make_bad_rows(1000, {5, 6, 990}, row_bytes);
  const auto load = [&](double share) {
    return load_into_memory(
        damaged, {.threads = 1, .errors = {.action = error_action::skip, .max_share = share}});
  };
  const test::log_capture log;
  CHECK(load(0.003)->size() == 997);
  CHECK(message_of<dataset_error>([&] { (void)load(0.002); }) ==
        "disk/part-3.bin: field 'row', sample 990: load_into_memory: 3 of the 1000 samples cannot "
        "be read, and load_into_memory_options::errors.max_share is 0.002; the last one: bad "
        "checksum; repair the data, or raise max_share");
  CHECK_THROWS_AS(load(0), dataset_error);
  CHECK(load_into_memory(test::make_bad_rows(3, {0, 1, 2}), {.errors = skip_any})->size() == 0);
}

TEST_CASE("held in memory: reads are tried again, each sample by itself, and reported",
          "[dataset][host]") {
  // The run of all is read, then each sample alone, then those that fail, 3 times at most.
  const auto recovers = recovering(100, {{7, 4}, {60, 2}});
  const test::log_capture log;
  failure_report told;
  load_into_memory_options options{.threads = 1, .failures = [&](const auto& all) { told = all; }};
  options.errors = {
      .action = GENERATE(error_action::fail, error_action::skip), .retries = 3, .first_pause = 1ms};
  CHECK(ids_of(*load_into_memory(recovers, options)) == all_but(100, {}));
  CHECK(told.count == 0);
  CHECK(told.recovered_reads == 2);
  CHECK(log.lines() == 0);
}

TEST_CASE("held in memory: a sample that fails more often than it is tried is left out alone",
          "[dataset][host]") {
  const test::log_capture log;
  load_into_memory_options options{.threads = 1};
  options.errors = {.action = error_action::skip, .retries = 2, .first_pause = 0ms};
  CHECK(ids_of(*load_into_memory(recovering(100, {{7, 100}, {60, 2}}), options)) ==
        all_but(100, {7}));
  options.errors.action = error_action::fail;
  CHECK(message_of<dataset_error>([&] {
          (void)load_into_memory(recovering(100, {{7, 100}, {60, 2}}), options);
        }) == "nfs/part-3: field 'row', sample 7: stale handle");
}

TEST_CASE("held in memory: progress is called in pauses, and its exception ends them",
          "[dataset][host]") {
  load_into_memory_options options{.threads = 1};
  options.errors = {
      .action = error_action::skip, .retries = 1000, .first_pause = 24h, .max_pause = 24h};
  options.progress = [](std::uint64_t, std::uint64_t) { throw std::runtime_error{"Ctrl-C"}; };
  CHECK(message_of<std::runtime_error>(
            [&] { (void)load_into_memory(test::make_bad_rows(1, {0}), options); }) == "Ctrl-C");
}

TEST_CASE("held in memory: the list of failures has its length, and the first of them",
          "[dataset][host]") {
  const test::log_capture log;
  error_policy errors = skip_any;
  errors.listed = GENERATE(0U, 2U);
  failure_report told;
  (void)load_into_memory(
      test::make_bad_rows(9000, {8999, 4, 70, 2500}, row_bytes),
      {.threads = 4, .errors = errors, .failures = [&](const auto& all) { told = all; }});
  CHECK(told.count == 4);
  REQUIRE(told.first.size() == errors.listed);
  if (errors.listed == 0) return;
  CHECK(told.first[0].sample == sample_index{4});
  CHECK(told.first[1].sample == sample_index{70});
}

TEST_CASE("held in memory: an exception that says nothing about the data is never skipped",
          "[dataset][host]") {
  const auto failing = std::make_shared<const test::failing_dataset<std::runtime_error>>(
      test::make_identity_rows(20, 8), sample_index{15}, std::runtime_error{"a bad day"});
  CHECK(message_of<dataset_error>([&] { (void)load_into_memory(failing, {.errors = skip_any}); }) ==
        "load_into_memory: samples 0 to 19 could not be read: a bad day");
}

TEST_CASE("held in memory: policies that cannot be are refused", "[dataset][host]") {
  const auto refusal = [](const error_policy& errors) {
    return message_of<usage_error>(
        [&] { (void)load_into_memory(test::make_identity_dataset(10, 8), {.errors = errors}); });
  };
  const std::string name = "load_into_memory_options::errors.";
  CHECK(refusal({.retries = -1}) == name + "retries is -1: say 0 to 1000");
  CHECK(refusal({.max_share = 1.5}) ==
        name + "max_share is 1.5: say a share of the samples, 0 to 1");
  CHECK(refusal({.action = static_cast<error_action>(7)}) ==
        name + "action is 7, which is not a value of its type: say one of fail, skip, substitute");
  CHECK(refusal({.action = error_action::substitute, .substitute = 10}) ==
        name + "substitute is 10, and the dataset has 10 samples: name one of them, from 0");
}
