/// Indexes of text files of servers, kept in a folder for later runs.

#include <feedline/error.hpp>
#include <feedline/formats/csv.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/log_capture.hpp"
#include "support/files/table_rows.hpp"
#include "support/files/temporary_directory.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

std::vector<std::byte> text_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    found.push_back(entry.path());
  return found;
}

/// The first value of the file's column, with an index in a folder.
std::int64_t first_value(const std::string& address, const std::filesystem::path& folder) {
  const auto data = open_csv({address}, {.table = {.index_folder = folder.string()}});
  return value_of<std::int64_t>(*data, 0, "x");
}

}  // namespace

TEST_CASE("kept indexes of objects: one is used again, and has no secret of the address",
          "[remote][host]") {
  http_server server;
  server.put("/t.csv", text_of("x\n1\n22\n"));
  const temporary_directory folder;
  const std::string address = server.address("/t.csv?Signature=s3cr3t" + std::string(300, 'x'));
  const log_capture log;
  std::filesystem::file_time_type written;
  for (const bool again : {false, true}) {
    const mounted_remote mounted;
    CHECK(first_value(address, folder.path()) == 1);
    REQUIRE(files_in(folder.path()).size() == 1);
    const auto index = files_in(folder.path()).front();
    if (again) CHECK(std::filesystem::last_write_time(index) == written);
    written = std::filesystem::last_write_time(index);
    CHECK(index.filename().string().starts_with("t.csv?...-"));
    std::ifstream file{index, std::ios::binary};
    const std::string content{std::istreambuf_iterator<char>{file}, {}};
    CHECK(content.size() > 50);
    CHECK_FALSE(contains(content, "s3cr3t"));
  }
  CHECK(log.text().empty());
}

TEST_CASE("kept indexes of objects: none is kept if a change could not be seen", "[remote][host]") {
  http_server server;
  const temporary_directory folder;
  const log_capture log;
  server.put("/t.csv", text_of("x\n1\n22\n"), "");
  {
    const mounted_remote mounted;
    CHECK(first_value(server.address("/t.csv"), folder.path()) == 1);
  }
  CHECK(files_in(folder.path()).empty());
  CHECK(contains(log.text(), "open_csv: no index of " + server.address("/t.csv") +
                                 " is kept: its "
                                 "server tells neither an ETag nor a date"));
  server.put("/t.csv", text_of("x\n11\n2\n"), "");
  const mounted_remote mounted;
  CHECK(first_value(server.address("/t.csv"), folder.path()) == 11);
}
