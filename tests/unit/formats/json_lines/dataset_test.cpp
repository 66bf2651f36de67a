#include <feedline/error.hpp>
#include <feedline/formats/json_lines.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/table_rows.hpp"
#include "support/files/tfrecord_bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::contains;
using test::shown_fields;
using test::strings;
using test::text_of;
using test::value_of;
using test::values_of;
using test::write_text;

namespace {

constexpr const char* people =
    "{\"id\": 1, \"name\": \"Ada\", \"size\": {\"cm\": 165.5, \"ok\": true}, \"box\": [1, 2], "
    "\"ids\": [7], \"m\": [[1.5, 2], [3, 4]]}\n"
    "\r\n"
    "{\"name\": \"B\\u00f6b\", \"id\": -2, \"size\": {\"ok\": false, \"cm\": 170}, \"box\": "
    "[3, 4], \"ids\": [], \"m\": [[5, 6], [7, 8]]}\r\n"
    "{\"id\": 3, \"name\": \"\", \"size\": {\"cm\": 1e2, \"ok\": true}, \"box\": [5, 6], "
    "\"ids\": [8, 9, 10], \"m\": [[0, 0], [0, 1]]}";

}  // namespace

TEST_CASE("JSON lines: numbers, lists, texts and objects within are fields", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.jsonl", std::string{"\xef\xbb\xbf"} + people);
  CHECK(detect_format(file) == "json_lines");
  const dataset_ptr data = open(file);
  REQUIRE(data->size() == 3);
  CHECK(shown_fields(*data) == strings{"id: int64[]", "name: uint8[4]", "name_length: int32[]",
                                       "size.cm: float64[]", "size.ok: bool[]", "box: int64[2]",
                                       "ids: int64[3]", "ids_length: int32[]", "m: float64[2, 2]"});
  CHECK(value_of<std::int64_t>(*data, 1, "id") == -2);
  CHECK(text_of(*data, 1, "name") ==
        "B\xc3\xb6"
        "b");
  CHECK(text_of(*data, 2, "name").empty());
  CHECK(value_of<double>(*data, 2, "size.cm") == 100.0);
  CHECK(value_of<std::uint8_t>(*data, 1, "size.ok") == 0);
  CHECK(values_of<std::int64_t>(*data, 2, "box") == std::vector<std::int64_t>{5, 6});
  CHECK(values_of<std::int64_t>(*data, 2, "ids") == std::vector<std::int64_t>{8, 9, 10});
  CHECK(value_of<std::int32_t>(*data, 1, "ids_length") == 0);
  CHECK(values_of<double>(*data, 0, "m") == std::vector<double>{1.5, 2, 3, 4});
  CHECK(open(file, {.fields = {"box", "id"}})->fields().size() == 2);
}

TEST_CASE("JSON lines: files are one sequence, and list_fields tells what they have",
          "[dataset][host]") {
  const test::temporary_directory folder;
  (void)write_text(folder, "1.jsonl", "{\"x\": 1, \"t\": [\"a\"], \"u\": null, \"o\": [{}]}\n");
  (void)write_text(folder, "2.jsonl", "");
  (void)write_text(folder, "3.jsonl", "{\"x\": 2, \"t\": [\"b\"], \"u\": null, \"o\": [{}]}\n");
  const auto data = open_json_lines({(folder.path() / "*.jsonl").string()});
  CHECK(shown_fields(*data) == strings{"x: int64[]"});
  CHECK(value_of<std::int64_t>(*data, 1, "x") == 2);
  const auto listed = list_fields((folder.path() / "1.jsonl").string(), {.format = "json_lines"});
  REQUIRE(listed.size() == 4);
  CHECK(listed[0].samples == 1);
  CHECK(listed[1].left_out == "is a list of texts; if they are labels, give columns['t'].labels");
  CHECK(listed[2].left_out ==
        "has no value in the 1 records that were looked at, so its type is not known");
  CHECK(listed[3].left_out.starts_with("is a list of objects (line 1 of "));
}

TEST_CASE("JSON lines: texts become labels by given, learnt or stored names", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.jsonl",
                                      "{\"l\": \"dog\", \"many\": [\"a\", \"b\"]}\n"
                                      "{\"l\": \"cat\", \"many\": []}\n"
                                      "{\"l\": \"dog\", \"many\": [\"b\"]}\n");
  const auto opened = [&](text_labels labels) {
    return open_json_lines({file}, {.fields = {"l"}, .columns = {{"l", {.labels = labels}}}});
  };
  const auto learnt = opened({});
  CHECK(learnt->fields()[0].classes.get() == strings{"cat", "dog"});
  CHECK(value_of<std::int32_t>(*learnt, 0, "l") == 1);
  const auto given = opened({.names = {"dog", "cat"}, .type = element_type::u8});
  CHECK(value_of<std::uint8_t>(*given, 0, "l") == 0);
  CHECK(given->fields() != learnt->fields());
  const std::string names = write_text(folder, "names.txt", "owl\r\ndog\r\ncat\r\n");
  CHECK(value_of<std::int32_t>(*opened({.file = names}), 1, "l") == 2);
  const std::string gap = write_text(folder, "gap.txt", "owl\n\r\ndog\ncat\n\n");
  CHECK(test::message_of<dataset_error>([&] { (void)opened({.file = gap}); }) ==
        gap +
            ": line 2 is blank, and names follow it, whose lines number the classes; delete it, "
            "or write the name that is missing");
  CHECK(test::message_of<dataset_error>([&] {
          (void)test::read_sample(*opened({.names = {"cat", "owl"}}), {0});
        }).find("line 1: label 'dog' is not one of 2 classes (cat, owl; ") != std::string::npos);
  CHECK(test::message_of<usage_error>([&] {
          (void)opened({.names = {"cat", "cat"}});
        }) == "columns['l'].labels: 'cat' is named twice");
  const auto many = open_json_lines({file}, {.columns = {{"many", {.labels = text_labels{}}}}});
  CHECK(values_of<std::int32_t>(*many, 0, "many") == std::vector{0, 1});
  CHECK(value_of<std::int32_t>(*many, 1, "many_length") == 0);
}

TEST_CASE("JSON lines: labels that are numbers count the given names", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.jsonl",
                                      "{\"l\": 1, \"many\": [0, 1], \"pair\": [1, 0]}\n"
                                      "{\"l\": 0, \"many\": [], \"pair\": [1, 1]}\n"
                                      "{\"l\": null, \"many\": [1], \"pair\": [0, 0]}\n"
                                      "{\"l\": 2, \"many\": [-1], \"pair\": [0, 1.5]}\n"
                                      "{\"l\": true, \"many\": [1], \"pair\": [1, 1e0]}\n");
  const text_labels kinds{.names = {"cat", "dog"}, .type = element_type::u8};
  const table_options options{.columns = {{"l", {.labels = kinds, .fill = std::int64_t{255}}},
                                          {"many", {.is_ragged = true, .labels = kinds}},
                                          {"pair", {.labels = kinds}}},
                              .looked_at = 1};
  const auto data = open_json_lines({file}, options);
  CHECK(shown_fields(*data)[0].starts_with("l: uint8[] of 2 classes"));
  for (const field& each : data->fields())
    CHECK(each.classes.empty() == each.name.ends_with("_length"));
  CHECK(value_of<std::uint8_t>(*data, 0, "l") == 1);
  CHECK(value_of<std::uint8_t>(*data, 2, "l") == 255);
  CHECK(values_of<std::uint8_t>(*data, 0, "many") == std::vector<std::uint8_t>{0, 1});
  CHECK(values_of<std::uint8_t>(*data, 1, "pair") == std::vector<std::uint8_t>{1, 1});
  const auto fault = [&](const char* name, std::uint64_t sample) {
    return test::message_of<dataset_error>([&] {
      (void)test::read_sample(*open_json_lines({file}, {.fields = {name},
                                                        .columns = options.columns,
                                                        .looked_at = options.looked_at}),
                              {sample});
    });
  };
  CHECK(contains(fault("l", 3), "line 4: is 2, which counts none of 2 classes (cat, dog; "));
  CHECK(contains(fault("l", 3), "; name all classes in columns['l'].labels, or replace such"));
  CHECK(contains(fault("l", 3), file));
  CHECK(contains(fault("many", 3), "is -1, which counts none of"));
  CHECK(contains(fault("pair", 3), "is 1.5, which counts none of"));
  CHECK(contains(fault("l", 4), "has true or false, not a number"));
  const std::string names = write_text(folder, "names.txt", "cat\ndog\nowl\n");
  const auto more = open_json_lines(
      {file}, {.fields = {"l"},
               .columns = {{"l", {.labels = text_labels{.file = names}, .fill = std::int64_t{-1}}}},
               .looked_at = 1});
  CHECK(value_of<std::int32_t>(*more, 3, "l") == 2);
  CHECK(value_of<std::int32_t>(*more, 2, "l") == -1);
}

TEST_CASE("JSON lines: types and fills are as they are told", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.jsonl",
                                      "{\"x\": 1.5, \"n\": 3, \"t\": \"a\", \"v\": [1]}\n"
                                      "{\"x\": null, \"t\": null, \"v\": null}\n");
  const auto data = open_json_lines(
      {file}, {.columns = {{"x", {.type = element_type::f32, .fill = 2.5}},
                           {"n", {.type = element_type::u8, .fill = std::int64_t{9}}},
                           {"t", {.fill = "none"}},
                           {"v", {.fill = std::int64_t{7}}}}});
  CHECK(value_of<float>(*data, 0, "x") == 1.5F);
  CHECK(value_of<float>(*data, 1, "x") == 2.5F);
  CHECK(value_of<std::uint8_t>(*data, 1, "n") == 9);
  CHECK(text_of(*data, 1, "t") == "none");
  CHECK(values_of<std::int64_t>(*data, 1, "v") == std::vector<std::int64_t>{7});
}

TEST_CASE("JSON lines: a ragged field alone, for packing", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.jsonl", people);
  const auto texts = open_json_lines_ragged({file}, "name");
  CHECK(texts->size() == 3);
  CHECK(texts->length({1}) == 4);
  CHECK(texts->element() == field{"name", element_type::u8, {}});
}

TEST_CASE("JSON lines: a gzip file is read like its text", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string lines = "{\"x\": 1}\n{\"x\": 2}\n\n{\"x\": 3}\n";
  const std::string file = folder.write("a.jsonl.gz", test::gzip_bytes(test::bytes_in(lines)));
  CHECK(detect_format(file) == "json_lines");
  CHECK(list_fields(file).front().samples == 3);
  CHECK(test::read_sample(*open(file), {2})[0] == test::memory_of<std::int64_t>({3}));
}
