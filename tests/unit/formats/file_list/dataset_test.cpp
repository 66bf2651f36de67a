#include <feedline/error.hpp>
#include <feedline/formats/file_list.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/table_rows.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::strings;
using test::value_of;
using test::values_of;
using test::write_text;

TEST_CASE("file lists: files of any kind, with labels that are texts or numbers",
          "[dataset][host]") {
  const test::temporary_directory folder;
  (void)write_text(folder, "a.bin", "abc");
  (void)write_text(folder, "b c.bin", "defgh");
  const std::string list =
      write_text(folder, "train.txt", "a.bin yes\r\n\r\nb c.bin no\na.bin\tno\n");
  CHECK(detect_format(list) == "file_list");
  const auto data = open(list);
  REQUIRE(data->size() == 3);
  CHECK(data->fields().back().classes.get() == strings{"no", "yes"});
  CHECK(test::text_of(*data, 1, "bytes") == "defgh");
  CHECK(value_of<std::int32_t>(*data, 0, "label") == 1);
  CHECK(value_of<std::int32_t>(*data, 2, "label") == 0);
  CHECK(list_fields(list).back().classes == strings{"no", "yes"});
  const auto told = open_file_list({list}, {.classes = {"yes", "no"}});
  CHECK(value_of<std::int32_t>(*told, 0, "label") == 0);
  const std::string numbers = write_text(folder, "numbers.txt", "a.bin 7\nb c.bin 9\n");
  CHECK(value_of<std::int32_t>(*open(numbers, {.format = "file_list"}), 1, "label") == 9);
  CHECK(open(numbers, {.format = "file_list"})->fields().back().classes.empty());
}

TEST_CASE("file lists: arrays become their fields", "[dataset][host]") {
  const test::temporary_directory folder;
  for (const std::string name : {"1.npy", "2.npy"})
    (void)folder.write(name, test::npy_bytes(test::npy_dictionary("<i2", "(2,)"),
                                             test::memory_of<std::int16_t>({1, 2})));
  const auto data = open_file_list({write_text(folder, "x", "1.npy cat\n2.npy dog\n")});
  CHECK(values_of<std::int16_t>(*data, 1, "array") == std::vector<std::int16_t>{1, 2});
  CHECK(value_of<std::int32_t>(*data, 1, "label") == 1);
}

TEST_CASE("file lists: errors name the list and the line", "[dataset][host]") {
  const test::temporary_directory folder;
  (void)write_text(folder, "a.bin", "abc");
  const auto refusal = [&](const std::string& text, const file_list_options& options = {}) {
    const std::string list = write_text(folder, "x", text);
    return test::message_of<dataset_error>([&] { (void)open_file_list({list}, options); })
        .substr(list.size());
  };
  CHECK(refusal("") == ": lists no file");
  CHECK(refusal("a.bin x\nlost.bin x\n") == ": line 2: there is no file " +
                                                (folder.path() / "lost.bin").string() +
                                                "; relative paths begin at the list's folder");
  CHECK(refusal("a.bin x\n", {.classes = {"y"}}) ==
        ": line 1: label 'x' is not one of file_list_options::classes");
}
