#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/subset.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/no_more_threads.hpp"
#include "support/datasets/chunked_dataset.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/gated_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/datasets/serialized_dataset.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;

namespace {

/// Where each read began, and how long it was.
struct read_log {
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;

  dataset_ptr watch(dataset_ptr of, chunking stored,
                    read_concurrency concurrency = read_concurrency::parallel) {
    return test::make_chunked(test::gated(
                                  std::move(of),
                                  [this](std::span<const sample_index> samples) {
                                    const std::scoped_lock lock{mutex};
                                    runs.emplace_back(samples.front().value, samples.size());
                                  },
                                  concurrency),
                              stored);
  }
};

std::vector<std::uint64_t> delivered_ids(dataset_ptr of, std::vector<std::byte>& bytes) {
  loader loader{std::move(of), shuffle{.seed = 3}, make_host_device(), {.batch_size = 64}};
  std::vector<std::uint64_t> ids;
  for (const batch& batch : loader.epoch(1)) {
    const auto* id = batch["id"].data<std::uint64_t>();
    ids.insert(ids.end(), id, id + batch.size());
    const auto* row = reinterpret_cast<const std::byte*>(batch["row"].data<std::uint8_t>());
    bytes.insert(bytes.end(), row, row + batch.size() * 57);
  }
  return ids;
}

}  // namespace

TEST_CASE("held in memory: the held dataset keeps the dataset contract, and has rows in memory",
          "[dataset][host]") {
  const std::uint64_t samples = GENERATE(0U, 1U, 500U);
  const int threads = GENERATE(0, 1, 3);
  const auto whole = test::make_identity_dataset(samples, 29);
  const auto held = load_into_memory(whole, {.threads = threads});
  REQUIRE(held->rows().size() == 2);
  CHECK(held->rows()[1].size() == samples * 29);
  test::check_dataset_contract(held, samples, whole->fields(),
                               [&](sample_index sample, std::size_t place) {
                                 return test::read_sample(*whole, sample)[place];
                               });
}

TEST_CASE("held in memory: large samples of many runs are held by several threads, byte for byte",
          "[dataset][host]") {
  const auto whole = test::make_identity_dataset(999, 40'000);  // some 40 runs
  const auto held = load_into_memory(whole, {.threads = 4});
  const auto rows = held->rows();
  for (std::uint64_t sample = 0; sample < 999; ++sample)
    REQUIRE(test::is_identity(sample, rows[0].subspan(sample * 8, 8),
                              rows[1].subspan(sample * 40'000, 40'000)));
}

TEST_CASE("held in memory: a loader delivers the same batches from it", "[dataset][host]") {
  const auto whole = test::make_identity_dataset(1000, 57);
  std::vector<std::byte> bytes;
  std::vector<std::byte> held_bytes;
  const auto ids = delivered_ids(whole, bytes);
  CHECK(delivered_ids(load_into_memory(whole), held_bytes) == ids);
  CHECK(held_bytes == bytes);
}

TEST_CASE(
    "held in memory: it needs the source no longer, and rows already in memory are not copied",
    "[dataset][host]") {
  auto whole = test::make_identity_dataset(10, 8);
  const std::weak_ptr<const dataset> watched = whole;
  const auto held = load_into_memory(std::move(whole));
  CHECK(watched.expired());
  CHECK(load_into_memory(held) == held);
}

TEST_CASE("held in memory: if no thread can be started the calling one reads all",
          "[dataset][host]") {
  const auto whole = test::make_identity_dataset(1000, 24);
  const test::no_more_threads limit;
  std::uint64_t told = 0;
  const auto held = load_into_memory(
      whole, {.threads = 4, .progress = [&](std::uint64_t done, std::uint64_t) { told = done; }});
  CHECK(told == 1000);
  for (const std::uint64_t sample : {0U, 500U, 999U})
    CHECK(test::read_sample(*held, {sample}) == test::read_sample(*whole, {sample}));
}

TEST_CASE("held in memory: no chunk is read by two threads, and each once", "[dataset][host]") {
  struct shape {
    std::uint64_t samples, chunk, row_bytes;
  };
  // Chunks far smaller than a run, about as large, larger, and one of all.
  const auto [samples, chunk, row_bytes] =
      GENERATE(shape{5000, 7, 1000}, shape{5000, 1040, 1000}, shape{5000, 3000, 1000},
               shape{300, 1000, 9000});
  read_log log;
  std::map<std::uint64_t, std::set<std::thread::id>> readers_of;
  const auto watched =
      test::make_chunked(test::gated(test::make_identity_dataset(samples, row_bytes),
                                     [&, chunk = chunk](std::span<const sample_index> run) {
                                       const std::scoped_lock lock{log.mutex};
                                       log.runs.emplace_back(run.front().value, run.size());
                                       for (std::uint64_t c = run.front().value / chunk;
                                            c <= run.back().value / chunk; ++c)
                                         readers_of[c].insert(std::this_thread::get_id());
                                     }),
                         {.samples = chunk, .bytes = chunk * row_bytes, .kept = 4});
  (void)load_into_memory(watched, {.threads = 3});
  std::sort(log.runs.begin(), log.runs.end());
  std::uint64_t next = 0;
  for (const auto& [first, count] : log.runs) {
    CHECK(first == next);
    next = first + count;
  }
  CHECK(next == samples);
  for (const auto& [which, threads] : readers_of) CHECK(threads.size() == 1);
}

TEST_CASE("held in memory: a dataset that one thread at a time may read is read by one, in order",
          "[dataset][host]") {
  read_log log;
  const auto watched =
      log.watch(test::make_identity_dataset(5000, 1000), {}, read_concurrency::serialized);
  (void)load_into_memory(watched, {.threads = 8});
  CHECK(log.runs.size() > 4);
  CHECK(std::is_sorted(log.runs.begin(), log.runs.end()));
}

TEST_CASE("held in memory: threads read at the same time", "[dataset][host]") {
  std::latch both{2};
  std::atomic<int> reads{0};
  const auto gated = test::gated(test::make_identity_dataset(4000, 1000), [&](auto) {
    if (reads.fetch_add(1) < 2) both.arrive_and_wait();  // the first two wait for each other
  });
  CHECK(load_into_memory(gated, {.threads = 2})->size() == 4000);
}

TEST_CASE("held in memory: progress is reported on the calling thread, and ends with all",
          "[dataset][host]") {
  std::vector<std::uint64_t> told;
  const auto caller = std::this_thread::get_id();
  bool elsewhere = false;
  (void)load_into_memory(test::make_identity_dataset(5000, 1000),
                         {.threads = 2, .progress = [&](std::uint64_t done, std::uint64_t samples) {
                            elsewhere |= samples != 5000 || std::this_thread::get_id() != caller;
                            told.push_back(done);
                          }});
  CHECK_FALSE(elsewhere);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() == 5000);
}

TEST_CASE(
    "held in memory: the progress callback's exception ends the reading and reaches the caller",
    "[dataset][host]") {
  read_log log;
  const auto whole = log.watch(test::make_identity_dataset(50'000, 1000), {});
  const auto words = test::message_of<std::runtime_error>([&] {
    (void)load_into_memory(whole, {.threads = 2, .progress = [](std::uint64_t, std::uint64_t) {
                                     throw std::runtime_error{"no longer wanted"};
                                   }});
  });
  CHECK(words == "no longer wanted");
}

TEST_CASE("held in memory: the first sample that cannot be read is named, whatever the threads",
          "[dataset][host]") {
  const int threads = GENERATE(1, 2, 8);
  const auto damaged = test::make_damaged(
      test::make_damaged(test::make_identity_dataset(20'000, 1000), sample_index{1500}),
      sample_index{1600});
  for (int repeat = 0; repeat < 5; ++repeat)
    CHECK(test::message_of<dataset_error>([&] {
            (void)load_into_memory(damaged, {.threads = threads});
          }) == "/data/rows: field 'row', sample 1600, byte 4096: checksum mismatch");
}

TEST_CASE("held in memory: another exception comes with the samples of its run",
          "[dataset][host]") {
  const auto failing = std::make_shared<const test::failing_dataset<std::runtime_error>>(
      test::make_identity_dataset(2000, 1040), sample_index{1500}, std::runtime_error{"a bad day"});
  try {
    (void)load_into_memory(failing, {.threads = 2});
    FAIL("nothing was thrown");
  } catch (const dataset_error& error) {
    CHECK(std::string{error.what()} ==
          "load_into_memory: samples 1000 to 1999 could not be read: a bad day");
    CHECK_THROWS_AS(std::rethrow_if_nested(error), std::runtime_error);
  }
  const auto odd = std::make_shared<const test::failing_dataset<int>>(
      test::make_identity_dataset(1, 8), sample_index{0}, 7);
  CHECK(
      test::message_of<dataset_error>([&] { (void)load_into_memory(odd); }) ==
      "load_into_memory: samples 0 to 0 could not be read: an exception that is no std::exception");
}

TEST_CASE(
    "held in memory: a budget is kept, and the required size is reported before anything is read",
    "[dataset][host]") {
  read_log log;
  const auto whole = log.watch(test::make_identity_dataset(1000, 92), {});
  CHECK(load_into_memory(whole, {.max_bytes = 100'000})->size() == 1000);
  log.runs.clear();
  CHECK(test::message_of<usage_error>(
            [&] { (void)load_into_memory(whole, {.max_bytes = 99'999}); }) ==
        "load_into_memory: 1000 samples of 100 bytes take 100000 bytes, and max_bytes is 99999: "
        "load a "
        "subset(), or let loaders read the files, or raise max_bytes");
  const auto huge = test::message_of<usage_error>(
      [] { (void)load_into_memory(test::make_identity_dataset(1ULL << 50, 1016)); });
  CHECK(
      huge.starts_with("load_into_memory: 1125899906842624 samples of 1024 bytes take "
                       "1152921504606846976 bytes, and this machine has "));
  const auto beyond = test::message_of<usage_error>(
      [] { (void)load_into_memory(test::make_identity_dataset(1ULL << 60, 1016)); });
  CHECK(beyond.find("take more than 2^64 bytes") != std::string::npos);
  CHECK(log.runs.empty());
}

TEST_CASE("held in memory: invalid options are refused", "[dataset][host]") {
  CHECK(test::message_of<usage_error>([] { (void)load_into_memory(nullptr); }) ==
        "load_into_memory: the dataset is null");
  CHECK(test::message_of<usage_error>(
            [] { (void)load_into_memory(test::make_identity_dataset(5, 8), {.threads = -1}); }) ==
        "load_into_memory_options::threads is -1: say how many, or 0 for as many as suit the "
        "machine");
}
