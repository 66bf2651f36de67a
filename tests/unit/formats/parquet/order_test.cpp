/// Row groups as chunks of the order.

#include <feedline/device/host_device.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/labels_once.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/parquet_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstring>
#include <set>
#include <string>
#include <vector>

using namespace feedline;
using namespace test::parquet_files;

namespace {

std::string write_ids(const test::temporary_directory& folder, const std::string& name,
                      std::int64_t first, std::int64_t count, std::int64_t group_rows) {
  std::vector<std::optional<std::int64_t>> ids;
  std::vector<std::vector<std::int32_t>> words;
  for (std::int64_t i = first; i < first + count; ++i) {
    ids.emplace_back(i);
    words.emplace_back(static_cast<std::size_t>(i % 5), static_cast<std::int32_t>(i));
  }
  return folder.write(name, file_of({{"id", array_of<arrow::Int64Builder>(ids)},
                                     {"words", lists_of<arrow::Int32Builder>(words)}},
                                    group_rows));
}

void add_ids(const batch& from, std::multiset<std::int64_t>& to) {
  std::vector<std::int64_t> ids(from.size());
  std::memcpy(ids.data(), from["id"].bytes().data(), 8 * ids.size());
  to.insert(ids.begin(), ids.end());
}

}  // namespace

TEST_CASE("Parquet: chunks are row groups, or rows of several where they differ",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const auto a = write_ids(folder, "a", 0, 100, 10);
  const auto b = write_ids(folder, "b", 100, 95, 10);
  const auto c = write_ids(folder, "c", 195, 1000, 10);
  const parquet_options ids{.fields = {"id"}, .max_host_cache_bytes = 320};
  const chunking equal{.samples = 10, .bytes = 80, .kept = 4};
  CHECK(open_parquet({a, b}, ids)->chunks() == equal);
  CHECK(open_parquet({b}, ids)->chunks() == equal);
  // From the tenth row group on, each is in two chunks.
  const chunking shifted = open_parquet({b, a}, ids)->chunks();
  CHECK(shifted == chunking{.samples = 10, .bytes = 160, .kept = 2});
  const chunking larger =
      open_parquet({a, b, c}, {.fields = {"id"}, .max_host_cache_bytes = 20'000})->chunks();
  CHECK(larger.samples == 40);
  CHECK(larger.bytes == 5 * 80);
  CHECK(larger.kept == 30);
}

TEST_CASE("Parquet: an order within windows decodes each column of a row group once",
          "[reader][host]") {
  const test::temporary_directory folder;
  const auto file = write_ids(folder, "a", 0, 2000, 20);
  const int readers = GENERATE(0, 1, 4);
  // Room for 20 of 100 row groups.
  const auto data = open_parquet({file}, {.pad = {{"words", {.length = 4}}},
                                          .max_host_cache_bytes = 20 * 20 * (8 + 4 * 2 + 16 + 8)});
  REQUIRE(data->chunks().samples == 20);
  REQUIRE(data->chunks().kept >= 10);
  REQUIRE(data->chunks().kept < 50);
  loader loader{data,
                shuffle{.seed = 3, .within = chunks()},
                make_host_device(),
                {.batch_size = 16, .readers = readers}};
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::multiset<std::int64_t> seen;
    auto batches = loader.epoch(epoch);
    while (const auto batch = batches.next()) add_ids(*batch, seen);
    CHECK(seen.size() == 2000);
    CHECK(std::set<std::int64_t>(seen.begin(), seen.end()).size() == 2000);
  }
  // Two epochs, two columns; readers that run ahead may decode a row group early and once more.
  CHECK(loader.statistics().decoded >= 400);
  CHECK(loader.statistics().decoded <= 440);
}

TEST_CASE("Parquet: shards resumed with other readers read each row once", "[reader][host]") {
  const test::temporary_directory folder;
  const auto data = open(std::vector<std::string>{write_ids(folder, "a", 0, 133, 9),
                                                  write_ids(folder, "b", 133, 67, 9)});
  std::multiset<std::int64_t> expected;
  for (std::int64_t i = 0; i < 200; ++i) expected.insert(i);
  CHECK(test::resumed_labels<std::int64_t>(data, "id", {.seed = 5, .within = chunks(4)}) ==
        expected);
}
