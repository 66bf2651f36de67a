/// Files that others change under a running epoch: it ends in an error, with no signal and no batch
/// whose bytes are not the file's.

#include <feedline/device/host_device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/sequential.hpp>

#include "dataset/rows_dataset.hpp"
#include "io/local/file.hpp"
#include "rows/file_rows.hpp"
#include "support/checks/catch.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/files/file_changes.hpp"
#include "support/files/temporary_directory.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
using detail::file_access;

namespace {

constexpr std::uint64_t rows = 4096;
constexpr std::size_t row_bytes = 512;

std::vector<std::byte> identity_file() {
  std::vector<std::byte> bytes(rows * row_bytes);
  for (std::uint64_t row = 0; row < rows; ++row)
    write_identity_row(row, std::span{bytes}.subspan(row * row_bytes, row_bytes));
  return bytes;
}

dataset_ptr open_rows(const std::filesystem::path& path, file_access how) {
  auto file = std::make_shared<const detail::local_file>(path, how, std::chrono::nanoseconds{0});
  const detail::row_place place{.offset = 0, .stride = row_bytes, .row_bytes = row_bytes};
  return detail::make_rows_dataset(
      "file dataset", {{{"row", element_type::u8, {row_bytes}},
                        std::make_shared<const detail::file_rows>(file, "row", place, rows)}});
}

bool is_intact(const batch& batch, std::uint64_t first, const std::vector<std::byte>& file) {
  const auto bytes = batch["row"].bytes();
  return std::equal(bytes.begin(), bytes.end(),
                    file.begin() + static_cast<std::ptrdiff_t>(first * row_bytes));
}

}  // namespace

TEST_CASE("changed file: an epoch over it ends in an error with its path, after good batches alone",
          "[reader][host]") {
  const auto how = GENERATE(file_access::mapped, file_access::by_calls);
  const auto change = GENERATE(values(all_file_changes));
  const int readers = GENERATE(0, 4);
  CAPTURE(static_cast<int>(how), static_cast<int>(change), readers);
  const temporary_directory folder;
  const auto bytes = identity_file();
  const auto path = folder.write("rows.bin", bytes);
  let_age(path);
  // The ring holds 12 batches of the epoch's 512, so most of it is read after the change.
  loader loader{
      open_rows(path, how),
      sequential{},
      make_host_device(),
      {.batch_size = 8, .readers = readers, .expert = {.batches_per_slot = 4, .staging_slots = 3}}};
  auto range = loader.epoch(0);
  std::uint64_t batches = 0;
  std::uint64_t torn = 0;
  std::optional<stage_error> failure;
  try {
    while (const auto batch = range.next()) {
      if (batches == 5) change_file(path, change);
      if (!is_intact(*batch, batches * 8, bytes)) ++torn;
      ++batches;
    }
  } catch (const stage_error& thrown) {
    failure.emplace(thrown);
  }
  CHECK(torn == 0);
  CHECK(batches >= 6);
  CHECK(batches <= 5 + 12 + 4);
  REQUIRE(failure);
  CHECK(failure->where().stage == stage::reader);
  CHECK(failure->where().path == path);
  CHECK(failure->where().batch == batches);
  const std::string told = failure->what();
  CAPTURE(told);
  const auto tells = [&](const std::string& words) {
    return told.find(words) != std::string::npos;
  };
  // It may be the read itself that finds the end, or the look at the file after it. Mapped files
  // are read by calls, too, once another reader's read has lost the map.
  const bool by_calls = how == file_access::by_calls || readers > 1;
  const bool cut =
      change == file_change::cut_to_nothing && by_calls && tells("it was cut since it was opened");
  // The system changes a file's time and size one after the other, and a look may fall between.
  const bool resized = change == file_change::cut_to_nothing ||
                       change == file_change::cut_within_its_last_page ||
                       change == file_change::grown;
  const bool between =
      resized && readers > 1 && tells(words_for(file_change::overwritten, rows * row_bytes));
  CHECK((cut || between || tells(words_for(change, rows * row_bytes))));
  CHECK_THROWS_AS(std::rethrow_exception(failure->cause()), dataset_error);
  CHECK_THROWS_AS((void)range.next(), stage_error);
}
