#include "formats/parquet/folder.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;

namespace {

/// The names of the files that count, of a folder with these.
std::vector<std::string> found_among(const test::temporary_directory& folder,
                                     const std::vector<std::string>& files) {
  for (const std::string& each : files) {
    std::filesystem::create_directories((folder.path() / each).parent_path());
    (void)folder.write(each, {});
  }
  std::vector<std::string> names;
  for (const std::string& each : detail::parquet_files_in(folder.path()))
    names.push_back(std::filesystem::relative(each, folder.path()));
  return names;
}

}  // namespace

TEST_CASE("Parquet folders: files in the order of their names, without hidden ones",
          "[dataset][host]") {
  const test::temporary_directory folder;
  CHECK_FALSE(detail::is_parquet_folder(folder.path()));
  using names = std::vector<std::string>;
  CHECK(found_among(folder, {"b.parquet", "a.parquet", "_c.parquet", ".d.parquet", "README.md"}) ==
        names{"a.parquet", "b.parquet"});
  CHECK(detail::is_parquet_folder(folder.path()));
  (void)folder.write("x", {});
  std::filesystem::create_directory(folder.path() / "_delta_log");
  CHECK_FALSE(detail::is_parquet_folder(folder.path()));
}

TEST_CASE("Parquet folders: those of the Hub have their files in data, and splits are not mixed",
          "[dataset][host]") {
  const test::temporary_directory folder;
  using names = std::vector<std::string>;
  CHECK(found_among(folder, {"README.md", "data/train-00001-of-00002.parquet",
                             "data/train-00000-of-00002-5f9a.parquet"}) ==
        names{"data/train-00000-of-00002-5f9a.parquet", "data/train-00001-of-00002.parquet"});
  CHECK(detail::is_parquet_folder(folder.path()));
  for (const std::string other : {"data/test-00000-of-00001.parquet", "data/test.parquet"}) {
    const auto path = folder.write(other, {});
    const std::string told =
        test::message_of<dataset_error>([&] { (void)detail::parquet_files_in(folder.path()); });
    CHECK(test::contains(told,
                         "holds several splits: open each by itself, by a pattern in quotes "
                         "such as '" +
                             folder.path().string() + "/data/train*.parquet'"));
    std::filesystem::remove(path);
  }
}
