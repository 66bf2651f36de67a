/// Parquet files that are stored elsewhere than on this machine.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/parquet_bytes.hpp"
#include "support/files/standin_files.hpp"
#include "support/files/temporary_directory.hpp"

#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <vector>

using namespace feedline;
using namespace test::parquet_files;
using namespace std::chrono_literals;
using test::memory_of;
using test::mounted_standin;
using test::standin_files;

namespace {

constexpr std::int64_t rows = 60;
constexpr std::int64_t group_rows = 10;

/// Two columns; those of a row group are 80 bytes and more, so that they lie apart.
std::string write_table(const test::temporary_directory& folder) {
  std::vector<std::optional<std::int64_t>> ids;
  std::vector<std::optional<double>> values;
  for (std::int64_t i = 0; i < rows; ++i) {
    ids.emplace_back(i);
    values.emplace_back(static_cast<double>(i) / 4);
  }
  const auto path = folder.write("a", file_of({{"id", array_of<arrow::Int64Builder>(ids)},
                                               {"x", array_of<arrow::DoubleBuilder>(values)}},
                                              group_rows));
  return mounted_standin::address_of(path);
}

/// The first byte that reading a sample reads.
std::uint64_t byte_of(const dataset& data, standin_files& storage, std::uint64_t sample) {
  (void)storage.take_calls();
  (void)test::read_sample(data, {sample});
  const auto calls = storage.take_calls();
  REQUIRE_FALSE(calls.empty());
  return calls.front().front().first;
}

void fail_at(standin_files& storage, std::uint64_t byte, std::atomic<int>& failures, int most) {
  storage.set_hook([=, &failures](const detail::byte_file& file, const detail::byte_read& part) {
    if (byte < part.offset || byte >= part.end() || failures.fetch_add(1) >= most) return;
    throw dataset_error{{.path = file.name(), .field = {}, .sample = {}, .offset = byte},
                        "the storage does not answer"};
  });
}

}  // namespace

TEST_CASE("Parquet elsewhere: a column of a row group is one read, hinted before",
          "[dataset][host]") {
  const mounted_standin storage;
  const test::temporary_directory folder;
  const std::string file = write_table(folder);
  const auto data = open_parquet({file}, {.fields = {"x"}, .max_host_cache_bytes = 1});
  REQUIRE(data->wants_prefetch());
  (void)storage->take_calls();
  (void)storage->take_hints();
  for (std::int64_t i = 0; i < group_rows; ++i)
    CHECK(test::read_sample(*data, {static_cast<std::uint64_t>(i)})[0] ==
          memory_of<double>({static_cast<double>(i) / 4}));
  const auto calls = storage->take_calls();
  REQUIRE(calls.size() == 1);
  REQUIRE(calls.front().size() == 1);
  const std::vector<sample_index> next{{3}, {7}, {1}};
  data->prefetch(next);
  const auto hints = storage->take_hints();
  REQUIRE(hints.size() == 1);
  CHECK(hints.front() == calls.front());
  const std::vector<sample_index> none{{1000}};
  data->prefetch(none);
  CHECK(storage->take_hints().empty());
}

TEST_CASE("Parquet elsewhere: a read that fails names file, row group, column and byte",
          "[dataset][host]") {
  const mounted_standin storage;
  const test::temporary_directory folder;
  const std::string file = write_table(folder);
  const std::uint64_t byte = byte_of(*open_parquet({file}, {.fields = {"x"}}), storage.files(), 20);
  const auto data = open_parquet({file}, {.fields = {"x"}});
  std::atomic<int> failures{0};
  fail_at(storage.files(), byte, failures, 1);
  const std::string told =
      test::message_of<dataset_error>([&] { (void)test::read_sample(*data, {25}); });
  CHECK(test::contains(told, file + ": field 'x', sample 25: row group 2: "));
  CHECK(test::contains(told, "byte " + std::to_string(byte) + ": the storage does not answer"));
  CHECK(test::read_sample(*data, {25})[0] == memory_of<double>({6.25}));
  failures = 0;
  fail_at(storage.files(), detail::open_file(file)->size() - 6, failures, 1);
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open_parquet({file}); }),
                       "the storage does not answer"));
  storage->set_hook({});
}

TEST_CASE("Parquet elsewhere: what fails once is tried again, what fails always is skipped",
          "[reader][host]") {
  const test::log_capture unheard;
  const mounted_standin storage;
  const test::temporary_directory folder;
  const std::string file = write_table(folder);
  const int readers = GENERATE(0, 3);
  const bool is_once = GENERATE(true, false);
  const auto data = open_parquet({file});
  const std::uint64_t byte =
      byte_of(*open_parquet({file}, {.fields = {"id"}}), storage.files(), 20);
  std::atomic<int> failures{0};
  fail_at(storage.files(), byte, failures, is_once ? 1 : 1'000'000);
  loader loader{data,
                shuffle{},
                make_host_device(),
                {.batch_size = 8,
                 .partial_batch = partial_batch::keep,
                 .readers = readers,
                 .errors = {.action = is_once ? error_action::fail : error_action::skip,
                            .retries = is_once ? 1 : 0,
                            .first_pause = 0ms,
                            .max_share = 1}}};
  std::multiset<std::uint64_t> seen;
  for (batch& batch : loader.epoch(0))
    for (const sample_index each : batch.samples()) seen.insert(each.value);
  storage->set_hook({});
  std::multiset<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < rows; ++i)
    if (is_once || i < 20 || i >= 30) expected.insert(i);
  CHECK(seen == expected);
  CHECK(loader.failures().count == (is_once ? 0U : 10U));
}
