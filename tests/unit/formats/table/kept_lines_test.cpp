#include <feedline/error.hpp>
#include <feedline/formats/csv.hpp>
#include <feedline/formats/json_lines.hpp>

#include "detail/log.hpp"
#include "formats/kept_index.hpp"
#include "formats/table/line_index.hpp"
#include "io/file_system.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/files/memory_file.hpp"
#include "support/files/table_rows.hpp"
#include "support/files/temporary_directory.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using test::value_of;
using test::write_text;

namespace {

using numbers = std::vector<std::uint64_t>;

bool are_same(const detail::line_index& a, const detail::line_index& b) {
  return a.begin == b.begin && a.ends == b.ends && a.blank == b.blank && a.inner == b.inner;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    found.push_back(entry.path());
  return found;
}

/// Changes a byte of the only index, and leaves its time.
void damage_index(const std::filesystem::path& folder) {
  const auto path = files_in(folder).front();
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  file.seekg(-12, std::ios::end);
  const int byte = file.get();
  file.seekp(-12, std::ios::end);
  file.put(static_cast<char>(byte ^ 1));
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

csv_options kept_in(const std::string& folder, char quote = '"') {
  return {.table = {.index_folder = folder}, .quote = quote};
}

}  // namespace

TEST_CASE("kept lines: an index is the same after it was kept", "[dataset][host]") {
  for (const std::string text : {"", "\xef\xbb\xbf", "a\n", "a", "\n\n",
                                 "\xef\xbb\xbfx\n\n\"a\nb\",2\r\n\r\nlast", "\n\"\n"}) {
    INFO(text);
    const auto file = test::memory_file(std::as_bytes(std::span{text}));
    const auto index = detail::index_lines({file}, '"').front();
    const auto again = detail::line_index_of(detail::numbers_of(index), text.size());
    REQUIRE(again);
    CHECK(are_same(*again, index));
    CHECK_FALSE(detail::line_index_of(detail::numbers_of(index), text.size() + 1));
  }
}

TEST_CASE("kept lines: numbers that are no index of the file are refused", "[dataset][host]") {
  const auto refused = [](const numbers& kept) { return !detail::line_index_of(kept, 10); };
  REQUIRE_FALSE(refused({0, 2, 1, 0, 4, 10, 5}));
  CHECK(refused({}));
  CHECK(refused({0, 2, 1}));
  CHECK(refused({1, 2, 1, 0, 4, 10, 5}));                       // begins after no mark
  CHECK(refused({0, 2, 1, 0, 4, 9, 5}));                        // ends before the file
  CHECK(refused({0, 2, 1, 0, 4, 11, 5}));                       // after it
  CHECK(refused({0, 2, 1, 0, 10, 4, 5}));                       // falls
  CHECK(refused({0, 2, 1, 0, 10, 10, 5}));                      // a record without a byte
  CHECK(refused({0, 2, 1, 0, 0, 10, 5}));                       // the same
  CHECK(refused({0, 2, 1, 0, 4, 10}));                          // fewer than it says
  CHECK(refused({0, 2, 1, 0, 4, 10, 5, 6}));                    // more
  CHECK(refused({0, std::uint64_t{1} << 61, 1, 0, 4, 10, 5}));  // more than memory
  CHECK(refused({0, 2, 1, 1, 4, 10, 5, 12}));                   // a quoted end after the file
}

TEST_CASE("kept lines: an index is used for its file as it is, its kind and its quote alone",
          "[dataset][host]") {
  const std::string text = "a,\"b\nc\"\n";
  const auto file = test::memory_file(std::as_bytes(std::span{text}));
  const numbers kept{1, 2, 3};
  const auto stored = detail::stored_index(*file, "KIND", kept);
  CHECK(detail::read_stored_index(stored, *file, "KIND") == kept);
  CHECK_FALSE(detail::read_stored_index(stored, *file, "OTHER"));
  const std::string longer = text + "x";
  CHECK_FALSE(detail::read_stored_index(
      stored, *test::memory_file(std::as_bytes(std::span{longer})), "KIND"));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    auto damaged = stored;
    damaged[i] ^= std::byte{4};
    REQUIRE_FALSE(detail::read_stored_index(damaged, *file, "KIND"));
    REQUIRE_FALSE(detail::read_stored_index(std::span{stored}.first(i), *file, "KIND"));
  }

  const test::temporary_directory folder;
  const test::temporary_directory indexes;
  const std::string path = write_text(folder, "t.csv", "x,y\n1,\"a\n2,b\"\n3,c\n");
  CHECK(open_csv({path}, kept_in(indexes.path()))->size() == 2);
  CHECK(files_in(indexes.path()).size() == 1);
  // Without a quote there are other records, and so another index.
  CHECK(open_csv({path}, kept_in(indexes.path(), '\0'))->size() == 3);
  CHECK(files_in(indexes.path()).size() == 2);
  CHECK(open_csv({path}, kept_in(indexes.path()))->size() == 2);
}

TEST_CASE("kept lines: an index is used again until the file changes, and made again if damaged",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const test::temporary_directory indexes;
  const std::string lines = write_text(folder, "a.jsonl", "{\"x\": 1}\n\n{\"x\": 22}\n");
  const auto last = [&] {
    const auto data = open_json_lines({lines}, {.index_folder = indexes.path()});
    return value_of<std::int64_t>(*data, data->size() - 1, "x");
  };
  CHECK(last() == 22);
  REQUIRE(files_in(indexes.path()).size() == 1);
  const auto index = files_in(indexes.path()).front();
  const std::string written = content_of(index);
  const auto time = std::filesystem::last_write_time(index);
  CHECK(last() == 22);
  CHECK(std::filesystem::last_write_time(index) == time);
  damage_index(indexes.path());
  CHECK(last() == 22);
  CHECK(content_of(index) == written);
  (void)write_text(folder, "a.jsonl", "{\"x\": 1}\n{\"x\": 2}\n{\"x\": 333}\n");
  CHECK(last() == 333);
  CHECK(files_in(indexes.path()).size() == 1);
  CHECK(content_of(index) != written);
}

TEST_CASE("kept lines: an index that holds is not made again", "[dataset][host]") {
  // A kept index in which two records are one is used: no pass over the file corrects it.
  const test::temporary_directory folder;
  const test::temporary_directory indexes;
  const std::string path = write_text(folder, "a.jsonl", "{\"x\": 1}\n{\"x\": 2}\n");
  const auto read = [&] {
    const auto data = open_json_lines({path}, {.index_folder = indexes.path()});
    return value_of<std::int64_t>(*data, 0, "x");
  };
  CHECK(read() == 1);
  detail::keep_index(*detail::open_file(path), "FLLINES1--", indexes.path(),
                     numbers{0, 1, 0, 1, 18, 9}, "test");
  CHECK_THROWS_AS(read(), dataset_error);
}

TEST_CASE("kept lines: threads that keep one index leave it whole, and nothing beside it",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const test::temporary_directory indexes;
  const auto file = detail::open_file(write_text(folder, "a.csv", "x\n1\n"));
  const numbers kept(5000, 7);
  const test::log_capture log;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        detail::keep_index(*file, "KIND", indexes.path(), kept, "test");
        if (detail::find_kept_index(*file, "KIND", indexes.path()) != kept)
          detail::log()->warn("an index is not whole");
      }
    });
  for (std::thread& each : threads) each.join();
  CHECK(log.text().empty());
  CHECK(files_in(indexes.path()).size() == 1);
}

TEST_CASE("kept lines: the index of a file with a long name has a shorter one", "[dataset][host]") {
  const test::temporary_directory folder;
  const test::temporary_directory indexes;
  const std::string path = write_text(folder, std::string(240, 'n') + ".csv", "x\n1\n");
  const test::log_capture log;
  CHECK(open_csv({path}, kept_in(indexes.path()))->size() == 1);
  CHECK(log.text().empty());
  CHECK(files_in(indexes.path()).size() == 1);
}

TEST_CASE("kept lines: a folder that cannot be written to is logged, and all is read",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string path = write_text(folder, "a.csv", "x\n1\n2\n");
  const test::log_capture log;
  CHECK(open_csv({path}, kept_in((folder.path() / "none").string()))->size() == 2);
  CHECK(test::contains(log.text(), "open_csv: the index "));
  CHECK(test::contains(log.text(), "cannot be written; check that its folder exists"));
}
