#include <feedline/error.hpp>
#include <feedline/formats/csv.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/table_rows.hpp"

#include <cmath>
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

TEST_CASE("CSV: columns are fields, with quotes, CRLF and a byte order mark", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.csv",
                                      "\xef\xbb\xbfid,name,\"height, cm\",ok,zip\r\n"
                                      "1,\"Ada \"\"A\"\"\",165.5,true,00123\r\n"
                                      "\r\n"
                                      "2,\"two\r\nlines, and \"\"a comma\"\"\",170,False,45678\r\n"
                                      "-3,,1e2,TRUE,90210");
  CHECK(detect_format(file) == "csv");
  const dataset_ptr data = open(file);
  REQUIRE(data->size() == 3);
  CHECK(shown_fields(*data) == strings{"id: int64[]", "name: uint8[25]", "name_length: int32[]",
                                       "height, cm: float64[]", "ok: bool[]", "zip: uint8[5]",
                                       "zip_length: int32[]"});
  CHECK(text_of(*data, 0, "name") == "Ada \"A\"");
  CHECK(text_of(*data, 1, "name") == "two\r\nlines, and \"a comma\"");
  CHECK(text_of(*data, 2, "name").empty());
  CHECK(value_of<std::int64_t>(*data, 2, "id") == -3);
  CHECK(value_of<double>(*data, 2, "height, cm") == 100.0);
  CHECK(value_of<std::uint8_t>(*data, 1, "ok") == 0);
  CHECK(text_of(*data, 0, "zip") == "00123");
  const auto told =
      open(file, {.fields = {"zip"}, .columns = {{"zip", {.type = element_type::u32}}}});
  CHECK(value_of<std::uint32_t>(*told, 0, "zip") == 123);
}

TEST_CASE("CSV: separators and headers are found, or told", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto fields = [&](const std::string& text, csv_options options = {}) {
    return shown_fields(*open_csv({write_text(folder, "x", text)}, options));
  };
  const strings both{"a: int64[]", "b: int64[]"};
  CHECK(fields("a,b\n1,2\n") == both);
  CHECK(fields("a\tb\n1\t2\n") == both);
  CHECK(fields("a;b\n1;2\n") == both);
  CHECK(fields("a|b\n1|2\n") == both);
  CHECK(fields("a:b\n1:2\n", {.separator = ':'}) == both);
  CHECK(fields("5.1,3\n4.5,2\n") == strings{"0: float64[]", "1: int64[]"});
  CHECK(fields("label,0,1\n3,4,5\n") == strings{"label: int64[]", "0: int64[]", "1: int64[]"});
  CHECK(fields(",x\n0,1\n1,2\n") == strings{"0: int64[]", "x: int64[]"});
  CHECK(fields("1,2\n3,4\n", {.header = true}) == strings{"1: int64[]", "2: int64[]"});
  CHECK(fields("a\n1\n2\n") == strings{"a: int64[]"});
  CHECK(fields("a\tb\n1\t5\"\n", {.quote = '\0'}) ==
        strings{"a: int64[]", "b: uint8[2]", "b_length: int32[]"});
}

TEST_CASE("CSV: files with the same columns are one sequence", "[dataset][host]") {
  const test::temporary_directory folder;
  (void)write_text(folder, "1.csv", "x,y\n1,2\n");
  (void)write_text(folder, "2.csv", "x,y\n");
  (void)write_text(folder, "3.csv", "x,y\n3,4\n5,6\n");
  const auto data = open_csv({(folder.path() / "*.csv").string()});
  REQUIRE(data->size() == 3);
  CHECK(value_of<std::int64_t>(*data, 1, "x") == 3);
  CHECK(value_of<std::int64_t>(*data, 2, "y") == 6);
  const std::string other = write_text(folder, "4.csv", "x,z\n1,2\n");
  CHECK(test::message_of<dataset_error>([&] {
          (void)open_csv({(folder.path() / "1.csv").string(), other});
        }) == other + ": has the columns x, z, but " + (folder.path() / "1.csv").string() +
                  " has x, y; files that are opened together have the same columns");
}

TEST_CASE("CSV: columns are merged to one field", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.csv", "label,p0,p1,p2\n7,1,2.5,3\n8,4,5,\n");
  const csv_options options{
      .table = {.columns = {{"pixels", {.type = element_type::f32, .fill = -1.0}}}},
      .merge = {{"pixels", {"p*"}}}};
  const auto data = open_csv({file}, options);
  CHECK(shown_fields(*data) == strings{"label: int64[]", "pixels: float32[3]"});
  CHECK(values_of<float>(*data, 0, "pixels") == std::vector<float>{1, 2.5F, 3});
  CHECK(values_of<float>(*data, 1, "pixels") == std::vector<float>{4, 5, -1});
  CHECK(test::message_of<usage_error>([&] {
          (void)open_csv({file}, {.merge = {{"q", {"q*"}}}});
        }) == "open_csv: csv_options::merge['q'] matches no column; there are label, p0, p1, p2");
}

TEST_CASE("CSV: brackets in the names of merged columns are no pattern", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.csv", "x[0],x[1],x0\n1,2,3\n");
  const auto data = open_csv({file}, {.merge = {{"x", {"x[0]", "x[1]"}}}});
  CHECK(shown_fields(*data) == strings{"x: int64[2]", "x0: int64[]"});
}

TEST_CASE("CSV: a record of a million columns is one merged field", "[dataset][host]") {
  const test::temporary_directory folder;
  constexpr std::size_t columns = 1'000'000;
  std::string text;
  for (int row = 0; row < 2; ++row) {
    for (std::size_t i = 0; i < columns; ++i) text += i % 2 == 0 ? "1," : "2,";
    text.back() = '\n';
  }
  const std::string file = write_text(folder, "a.csv", text);
  const auto data = open_csv({file}, {.merge = {{"x", {"*"}}}});
  CHECK(shown_fields(*data) == strings{"x: int64[1000000]"});
  CHECK(values_of<std::int64_t>(*data, 1, "x")[columns - 1] == 2);
  CHECK(test::message_of<dataset_error>([&] { (void)open_csv({file}); }) ==
        file +
            ": has 1000000 columns, and a dataset at most 4096 fields; choose some (fields), or "
            "write columns of one kind as one list, or merge them to one field "
            "(csv_options::merge)");
}

TEST_CASE("CSV: labels are texts or numbers, given or learnt", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.csv", "x,l\n1,dog\n2,10\n3,cat\n4,\n");
  const auto opened = [&](const table_column& how) {
    return open_csv({file}, {.table = {.fields = {"l"}, .columns = {{"l", how}}}});
  };
  const auto learnt = opened({.labels = text_labels{}, .fill = "none"});
  CHECK(learnt->fields()[0].classes.get() == strings{"10", "cat", "dog", "none"});
  CHECK(value_of<std::int32_t>(*learnt, 3, "l") == 3);
  CHECK(test::message_of<usage_error>([&] { (void)opened({.labels = text_labels{}}); }) ==
        "columns['l']: the column has no value in line 5 of " + file +
            "; give columns['l'].fill for such records");
  CHECK(test::message_of<usage_error>([&] { (void)opened({.is_ragged = true}); }) ==
        "columns['l']: the column has one value in each record, so leave out shape and is_ragged");
  const auto listed =
      list_fields(file, {.columns = {{"l", {.labels = text_labels{}, .fill = "none"}}}});
  CHECK(listed.back().classes.size() == 4);
}

TEST_CASE("CSV: labels that are numbers count the given names, unless these are numbers, too",
          "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.csv", "x,l\n1,1\n2,0\n3,\n4,7\n10,1\n11,0\n");
  const auto opened = [&](const table_column& how) {
    return open_csv({file}, {.table = {.fields = {"l"}, .columns = {{"l", how}}}});
  };
  const auto counted =
      opened({.labels = text_labels{.names = {"cat", "dog"}}, .fill = std::int64_t{-1}});
  CHECK(counted->fields()[0].classes.get() == strings{"cat", "dog"});
  const auto listed = list_fields(
      file,
      {.columns = {
           {"l", {.labels = text_labels{.names = {"cat", "dog"}}, .fill = std::int64_t{-1}}}}});
  CHECK(listed.back().classes.size() == 2);
  CHECK(value_of<std::int32_t>(*counted, 0, "l") == 1);
  CHECK(value_of<std::int32_t>(*counted, 2, "l") == -1);
  CHECK(contains(test::message_of<dataset_error>([&] { (void)test::read_sample(*counted, {3}); }),
                 "line 5: column 2 is 7, which counts none of 2 classes (cat, dog; "));
  const auto compared = opened({.labels = text_labels{.names = {"7", "1", "0"}}, .fill = "0"});
  CHECK(value_of<std::int32_t>(*compared, 0, "l") == 1);
  CHECK(value_of<std::int32_t>(*compared, 3, "l") == 0);
}

TEST_CASE("CSV: cells that count as missing are filled", "[dataset][host]") {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "a.csv", "x,t\n1,NA\nNA,b\n,c\n");
  const csv_options options{.table = {.columns = {{"x", {.fill = std::int64_t{-1}}}}},
                            .missing = {"", "NA"}};
  const auto data = open_csv({file}, options);
  CHECK(value_of<std::int64_t>(*data, 1, "x") == -1);
  CHECK(value_of<std::int64_t>(*data, 2, "x") == -1);
  CHECK(text_of(*data, 0, "t") == "NA");
}

TEST_CASE("CSV: a number that is less than the least one is 0", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto data = open_csv({write_text(folder, "a.csv", "x,y\n1e-400,1\n-1.5E-999,2\n.5,3\n")});
  CHECK(shown_fields(*data) == strings{"x: float64[]", "y: int64[]"});
  CHECK(value_of<double>(*data, 0, "x") == 0.0);
  CHECK(std::signbit(value_of<double>(*data, 1, "x")));
  CHECK(value_of<double>(*data, 2, "x") == 0.5);
}

TEST_CASE("CSV, bad input: errors name line, column and field", "[dataset][host]") {
  const auto refusal = [](const std::string& text, csv_options options = {}) {
    options.table.looked_at = 1;
    return test::refusal_of(text,
                            [&](const std::string& file) { return open_csv({file}, options); });
  };
  const std::string way_out =
      "; the records that were looked at differ: say in columns['b'] what all have";
  CHECK(refusal("") == ": is empty");
  CHECK(refusal("a,b\n") == ": holds no record");
  CHECK(refusal("a,b\n1,2\n3\n") ==
        ": sample 1, byte 8: line 3: has 1 cells, but there are 2 columns; quote cells that have "
        "the separator in them, or remove the record");
  CHECK(refusal("a,b\n1,2\n3,x\n") ==
        ": field 'b', sample 1, byte 8: line 3: column 2 has the text 'x', not a number" + way_out);
  CHECK(refusal("a,b\n1,2\n\n3,\n") ==
        ": field 'b', sample 1, byte 8: line 4: column 2 has no value; give columns['b'].fill for "
        "such records, or replace them (error_policy)");
  CHECK(refusal("a,b\n1,\"x\ny\"\n3,5\" pipe\n", {.header = true}) ==
        ": sample 1, byte 12: line 4: column 2: has a quote, but is not quoted; quote the cell and "
        "double the quote, or give csv_options::quote = 0 if nothing is quoted");
  CHECK(refusal("a,b\n1,2\n3,\"x\n", {.header = true}) ==
        ": sample 1, byte 8: line 3: column 2: the quote is not closed; close it, or give "
        "csv_options::quote = 0 if nothing is quoted");
  CHECK(refusal("a,b\n1,2\n3,\"x\"y\n", {.header = true}) ==
        ": sample 1, byte 8: line 3: column 2: has text after the closing quote; double quotes "
        "within a cell");
  CHECK(refusal("a,b\n1,x\n3,\xe9\n", {.table = {.pad = {{"b", {.length = 4}}}}}) ==
        ": field 'b', sample 1, byte 8: line 3: column 2 is no UTF-8; convert the file (for "
        "Latin-1: iconv -f LATIN1 -t UTF-8)");
  CHECK(refusal("a,b\r1,2\r3,4\r") ==
        ": line 1: column 2: has a carriage return, but is not quoted; if lines end with it alone, "
        "convert the file (tr '\\r' '\\n'), else quote the cell");
  CHECK(refusal("a,b\n1,x\n3,\"\r\"\n", {.table = {.pad = {{"b", {.length = 4}}}}}) ==
        "[nothing was thrown]");
  CHECK(refusal("a,b\n1,x\n3,\xe9\n", {.table = {.columns = {{"b", {.labels = text_labels{}}}}}}) ==
        ": field 'b', sample 1, byte 8: line 3: column 2 is no UTF-8; convert the file (for "
        "Latin-1: iconv -f LATIN1 -t UTF-8)");
  CHECK(refusal(std::string(1'100'000, ',') + '\n') ==
        ": line 1: has 1100001 cells, and 1048576 are the most; write values of one kind as arrays "
        "(.npy)");
  CHECK(refusal("a,a\n1,2\n") ==
        ": line 1: two columns are named 'a', the second is 2; rename one, or give "
        "csv_options::header = false");
}
