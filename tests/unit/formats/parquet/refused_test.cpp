#include <feedline/error.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/parquet.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"

#include <span>
#include <string>
#include <string_view>

using namespace feedline;

TEST_CASE("Parquet: a build without Arrow says what a file is, and how to read it",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file =
      folder.write("a.parquet", std::as_bytes(std::span{std::string_view{"PAR1 and so on"}}));
  CHECK(detect_format(file) == "parquet");
  const std::string told =
      ": a Parquet file, and this feedline was built without Arrow's C++ "
      "libraries; install them";
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open(file); }), file + told));
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open(folder.path()); }), told));
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)list_fields(file); }), told));
  CHECK(test::contains(test::message_of<dataset_error>([&] { (void)open_parquet({file}); }), told));
  CHECK(test::contains(
      test::message_of<dataset_error>([&] { (void)open_parquet_ragged({file}, "x"); }), told));
}
