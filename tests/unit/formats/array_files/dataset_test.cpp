#include <feedline/error.hpp>
#include <feedline/formats/array_files.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/table_rows.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::memory_of;
using test::shown_fields;
using test::strings;
using test::value_of;
using test::values_of;

namespace {

test::byte_vector npy(const std::string& shape, const std::vector<std::int16_t>& values,
                      bool fortran = false) {
  return test::npy_bytes(test::npy_dictionary("<i2", shape, fortran), memory_of(values));
}

}  // namespace

TEST_CASE("array files: a file is a sample, of one shape or of any length", "[dataset][host]") {
  const test::temporary_directory folder;
  (void)folder.write("1.npy", npy("(2, 2)", {1, 2, 3, 4}));
  (void)folder.write("2.npy", npy("(2, 2)", {1, 3, 2, 4}, true));
  const std::string path = folder.path().string();
  CHECK(detect_format(path) == "array_files");
  const auto same = open(path);
  CHECK(shown_fields(*same) == strings{"array: int16[2, 2]"});
  CHECK(values_of<std::int16_t>(*same, 0, "array") == std::vector<std::int16_t>{1, 2, 3, 4});
  CHECK(values_of<std::int16_t>(*same, 1, "array") == std::vector<std::int16_t>{1, 2, 3, 4});
  (void)folder.write("3.npy", npy("(3, 2)", {1, 2, 3, 4, 5, 6}));
  const auto rows = open(path);
  CHECK(shown_fields(*rows) == strings{"array: int16[3, 2]", "array_length: int32[]"});
  CHECK(value_of<std::int32_t>(*rows, 1, "array_length") == 2);
  CHECK(values_of<std::int16_t>(*rows, 0, "array") == std::vector<std::int16_t>{1, 2, 3, 4, 0, 0});
  (void)folder.write("4.npy", npy("(1, 1)", {9}));
  const auto values =
      open(path, {.pad = {{"array", {.length = 4, .longer = pad_longer::truncate}}}});
  CHECK(shown_fields(*values) ==
        strings{"array: int16[4]", "array_length: int32[]", "array_shape: int64[2]"});
  CHECK(values_of<std::int64_t>(*values, 2, "array_shape") == std::vector<std::int64_t>{3, 2});
  CHECK(values_of<std::int16_t>(*values, 3, "array") == std::vector<std::int16_t>{9, 0, 0, 0});
  CHECK(open_array_files_ragged({path}, "array")->length({2}) == 6);
  const auto listed = list_fields(path);
  REQUIRE(listed.size() == 1);
  CHECK((listed[0].is_ragged && listed[0].samples == 4));
}

TEST_CASE("array files: a file that differs is an error that names it", "[dataset][host]") {
  const test::temporary_directory folder;
  (void)folder.write("1.npy", npy("(2,)", {1, 2}));
  const std::string other = folder.write("2.npy", npy("(3,)", {1, 2, 3})).string();
  const auto data = open_array_files({folder.path().string()}, {.looked_at = 1});
  CHECK(test::message_of<dataset_error>([&] { (void)test::read_sample(*data, {1}); }) ==
        other +
            ": field 'array', sample 1: is int16[3], but the files that were looked at have "
            "array: int16[2]; raise array_file_options::looked_at, so that such files are "
            "seen");
}
