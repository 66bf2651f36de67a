#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/parquet_bytes.hpp"
#include "support/files/temporary_directory.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <vector>

using namespace feedline;
using namespace test::parquet_files;
using test::byte_vector;
using test::contains;

namespace {

byte_vector small_file(bool with_checksums = false) {
  std::vector<std::optional<std::int64_t>> ids;
  std::vector<std::optional<std::string>> texts;
  std::vector<std::vector<std::int32_t>> words;
  for (std::int64_t i = 0; i < 40; ++i) {
    ids.emplace_back(i * 1'000'003);
    texts.emplace_back(std::string(static_cast<std::size_t>(i % 9), 't'));
    words.emplace_back(static_cast<std::size_t>(i % 5), static_cast<std::int32_t>(i));
  }
  return file_of({{"id", array_of<arrow::Int64Builder>(ids)},
                  {"text", array_of<arrow::StringBuilder>(texts)},
                  {"words", lists_of<arrow::Int32Builder>(words)}},
                 16, true, {}, with_checksums);
}

/// Opens a file and reads all of it. @return The error; empty: there is none.
std::string fault_of(const std::string& file) try {
  const auto data =
      open_parquet({file}, {.pad = {{"text", {.length = 10, .longer = pad_longer::truncate}},
                                    {"words", {.length = 10, .longer = pad_longer::truncate}}}});
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(data->size(), 64); ++i)
    (void)test::read_sample(*data, {i});
  return {};
} catch (const error& fault) {
  return fault.what();
} catch (const std::bad_alloc&) {
  return "no memory";
}

}  // namespace

TEST_CASE("Parquet, bad input: cut short, empty, without a row", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto message = [&](const byte_vector& bytes) {
    const std::string file = folder.write("a", bytes);
    const std::string told = fault_of(file);
    CHECK(contains(told, file + ": "));
    return told;
  };
  const byte_vector good = small_file();
  REQUIRE(fault_of(folder.write("a", good)).empty());
  CHECK(contains(message({}), "0 bytes"));
  CHECK(contains(message({good.begin(), good.begin() + 8}), "magic bytes not found"));
  for (std::size_t size = 9; size < good.size(); size += 97)
    (void)message({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
  CHECK(contains(message(file_of({{"id", array_of<arrow::Int64Builder, std::int64_t>({})}}, 10)),
                 "holds no row"));
}

TEST_CASE("Parquet, bad input: a page that is damaged names file, row group and column",
          "[dataset][host]") {
  const test::temporary_directory folder;
  byte_vector bytes = small_file();
  // The first row group's first column begins after the magic, with the header of its page.
  std::fill(bytes.begin() + 4, bytes.begin() + 24, std::byte{0xff});
  const std::string file = folder.write("a", bytes);
  const auto data = open_parquet({file}, {.fields = {"id"}});
  const std::string told =
      test::message_of<dataset_error>([&] { (void)test::read_sample(*data, {3}); });
  CHECK(contains(told, file + ": field 'id', sample 3: row group 0: "));
  CHECK(test::read_sample(*data, {16})[0] == test::memory_of<std::int64_t>({16 * 1'000'003}));
}

TEST_CASE("Parquet, bad input: any byte that differs is a value or an error", "[dataset][host]") {
  const test::temporary_directory folder;
  const byte_vector good = small_file();
  const std::size_t step = test::sanitized ? 23 : 3;
  std::size_t faults = 0;
  for (std::size_t at = 0; at < good.size(); at += step)
    for (const std::byte flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      byte_vector bad = good;
      bad[at] ^= flip;
      faults += fault_of(folder.write("a", bad)).empty() ? 0 : 1;
    }
  CHECK(faults > good.size() / step / 3);
}

TEST_CASE("Parquet, bad input: a page with another checksum is an error", "[dataset][host]") {
  const test::temporary_directory folder;
  byte_vector bytes = small_file(true);
  REQUIRE(fault_of(folder.write("a", bytes)).empty());
  const byte_vector value = test::memory_of<std::int64_t>({5 * 1'000'003});
  const auto found = std::search(bytes.begin(), bytes.end(), value.begin(), value.end());
  REQUIRE(found != bytes.end());
  *found ^= std::byte{1};
  const std::string fault = fault_of(folder.write("a", bytes));
  INFO(fault);
  CHECK(contains(fault, "field 'id', sample 0: row group 0: "));
  CHECK(contains(fault, "could not verify page integrity, CRC"));  // older Arrows begin with a code
}
