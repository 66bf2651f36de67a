#include <feedline/error.hpp>
#include <feedline/formats/json_lines.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/table_rows.hpp"

#include <string>

using namespace feedline;
using test::contains;
using test::write_text;

namespace {

/// The error of opening a file with these lines, of which the first alone is looked at, or of
/// reading its last sample; without the path.
std::string refusal(const std::string& lines, table_options options = {}) {
  options.looked_at = 1;
  return test::refusal_of(
      lines, [&](const std::string& file) { return open_json_lines({file}, options); });
}

/// The error of options, or of a column.
std::string misuse(const std::string& lines, const table_options& options) {
  const test::temporary_directory folder;
  const std::string file = write_text(folder, "x", lines);
  return test::message_of<usage_error>([&] { (void)open_json_lines({file}, options); });
}

}  // namespace

TEST_CASE("JSON lines, bad input: errors name line, byte and field", "[dataset][host]") {
  CHECK(refusal("") == ": holds no record");
  CHECK(refusal("\n\r\n") == ": holds no record");
  CHECK(refusal("[1]\n") ==
        ": sample 0, byte 0: line 1: is no object ({...}); JSON lines have an object on each line");
  CHECK(refusal("7\n") ==
        ": sample 0, byte 0: line 1: is no object ({...}); JSON lines have an object on each line");
  CHECK(contains(refusal("{\"x\": 1}\n\n{\"x\": 1\n"),
                 ": sample 1, byte 9: line 3: column 10: is no JSON: "));
  CHECK(contains(refusal("{\"x\": 1} {\"x\": 2}\n"), "line 1: column 10: is no JSON: "));
  CHECK(contains(refusal("{\"x\": NaN}\n"),
                 "JSON has neither NaN nor Infinity: write null, and give a fill"));
  CHECK(contains(refusal("{\"x\": \"\xff\"}\n"),
                 "line 1: column 8: is no JSON: invalid string: "
                 "ill-formed UTF-8 byte"));
  CHECK(refusal("{\"x\": 1}\n{\"x\": 1, \"x\": 2}\n") ==
        ": field 'x', sample 1, byte 9: line 2: the key 'x' occurs twice");
  CHECK(refusal("{\"a.b\": 1, \"a\": {\"b\": 2}}\n") ==
        ": field 'a.b', sample 0, byte 0: line 1: two keys are named 'a.b': one has the dot in it, "
        "the other is in an object");
  CHECK(refusal("\x1f\x8b\x08") ==
        ": byte 3: the gzip stream ends early; the file is cut short, get it again");
  CHECK(refusal("\xff\xfe{") == ": is UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
  CHECK(refusal("{}\n") == ": has no column that can be a field");
  std::string many = "{";
  for (int i = 0; i < 70'000; ++i) many += "\"" + std::to_string(i) + "\":1,";
  many.back() = '}';
  CHECK(contains(refusal(many),
                 "records have more than 65536 keys; write values of one kind as a list"));
  CHECK(contains(refusal(many.substr(0, many.find("5000") - 2) + "}"),
                 "has 5000 columns, and a dataset at most 4096 fields"));
  // Each key within would have the long name, too.
  CHECK(refusal("{\"" + std::string(1000, 'k') + "\": {\"a\": 1, \"" + std::string(30, 'b') +
                "\": 1}}\n") == ": sample 0, byte 0: line 1: a key that begins with '" +
                                    std::string(60, 'k') +
                                    "' has 1031 bytes with those around it, and 1024 are the most");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "{\"a\":";
  CHECK(contains(refusal(deep), "objects are nested more than 64 deep"));
  const std::string lists = "{\"x\": " + std::string(1000, '[') + std::string(1000, ']') + "}\n";
  CHECK(contains(refusal(lists), "'x' is a list of lists, more than 16 deep (line 1 of "));
}

TEST_CASE("JSON lines, bad input: values that differ from the records looked at",
          "[dataset][host]") {
  const auto second = [](const std::string& a, const std::string& b, table_options options = {}) {
    return refusal("{\"x\": " + a + "}\n{\"x\": " + b + "}\n", std::move(options));
  };
  const auto says = [](const std::string& text) { return ": field 'x', sample 1, byte " + text; };
  const std::string way_out =
      "; the records that were looked at differ: say in columns['x'] what all have";
  CHECK(second("1", "\"a\"") == says("9: line 2: has the text 'a', not a number" + way_out));
  CHECK(second("1", "true") == says("9: line 2: has true or false, not a number" + way_out));
  CHECK(second("true", "1") == says("12: line 2: has a number, not true or false" + way_out));
  CHECK(second("\"a\"", "1", {.pad = {{"x", {.length = 9}}}}) ==
        says("11: line 2: has a number, not a text"));
  CHECK(second("1", "null") ==
        says("9: line 2: has no value; give columns['x'].fill for such records, or replace them "
             "(error_policy)"));
  CHECK(refusal("{\"x\": 1, \"y\": 2}\n{\"y\": 1}\n", {.fields = {"x"}}) ==
        says("17: line 2: has no value; give columns['x'].fill for such records, or replace them "
             "(error_policy)"));
  CHECK(second("1", "1.5") ==
        says("9: line 2: is 1.5, which int64 cannot hold; give columns['x'].type a type that holds "
             "all values"));
  CHECK(second("1", "300", {.columns = {{"x", {.type = element_type::u8}}}}) ==
        says("9: line 2: is 300, which uint8 cannot hold; give columns['x'].type a type that holds "
             "all values"));
  CHECK(second("1", "99999999999999999999") ==
        says("9: line 2: has a whole number of more than 64 bits; write it as a text, or with a "
             "fraction"));
  CHECK(second("0.5", "9007199254740993") ==
        says("11: line 2: is a whole number that float64 rounds, and other records have fractions; "
             "give columns['x'].type a type that holds all values"));
  CHECK(second("0.5", "-9007199254740992") == "[nothing was thrown]");
  CHECK(second("0.5", "9007199254740993", {.columns = {{"x", {.type = element_type::f64}}}}) ==
        "[nothing was thrown]");
  CHECK(second("1", "9007199254740993.0") ==
        says("9: line 2: is 9007199254740992, which was rounded if it has more digits: write "
             "it without a fraction and an exponent; give columns['x'].type a type that holds all "
             "values"));
  CHECK(contains(second("1", "-9007199254740993.0"), "is -9007199254740992, which was rounded"));
  CHECK(second("1", "-9007199254740991.0") == "[nothing was thrown]");
  CHECK(second("[1, 2]", "[1]") ==
        says("14: line 2: has a list of 1, but x: int64[2] takes a list of 2; if lists differ, "
             "give columns['x'].is_ragged"));
  CHECK(second("1", "[1]") == says("9: line 2: has a list of 1, but x: int64[] takes one value; if "
                                   "lists differ, give columns['x'].is_ragged"));
  CHECK(second("[[1], [2]]", "[[1], [2, 3]]") ==
        says("18: line 2: is a list of lists of other lengths"));
  CHECK(second("[1]", "[1, null]") == says("11: line 2: is a list with null in it"));
  CHECK(second("[1]", "[1, \"a\"]") == says("11: line 2: is a list of values of several kinds"));
  CHECK(second("[1]", "[1, [2]]") == says("11: line 2: is a list of values and of lists"));
  CHECK(second("[1]", "[[2], 1]") == says("11: line 2: is a list of values and of lists"));
  CHECK(second("1", "{\"y\": 1}") == says("9: line 2: is an object, and a value in other records"));
  CHECK(refusal("{\"x\": {\"y\": 1}}\n{\"x\": 1}\n") ==
        ": field 'x', sample 1, byte 16: line 2: is an object in the records that were looked at, "
        "and a value here");
}

TEST_CASE("JSON lines: columns that cannot be fields, and options that do not suit",
          "[dataset][host]") {
  const std::string lines = "{\"x\": 1, \"t\": \"a\"}\n{\"x\": \"b\", \"t\": \"c\"}\n";
  CHECK(contains(misuse(lines, {.fields = {"x"}}),
                 "open_json_lines: 'x' cannot be a field: it is a number in line 1 of "));
  CHECK(misuse(lines, {.fields = {"y"}}) ==
        "open_json_lines: there is no column 'y' in the records that were looked at; they have t, "
        "x");
  CHECK(misuse(lines, {.columns = {{"y", {}}}}) ==
        "open_json_lines: table_options::columns names 'y', which none of the 2 records that were "
        "looked at has; they have t, x");
  CHECK(contains(misuse(lines, {.columns = {{"t", {.type = element_type::i32}}}}),
                 "columns['t']: the column has texts, so it cannot be int32"));
  CHECK(misuse("{\"n\": 1}\n", {.columns = {{"n", {.labels = text_labels{}}}}}) ==
        "columns['n']: the column has a number, not a text; name the classes that it counts in "
        "columns['n'].labels (names, or a file), or leave labels out");
  CHECK(misuse("{\"n\": 1.5}\n", {.columns = {{"n", {.labels = text_labels{{"a", "b"}}}}}}) ==
        "columns['n']: the column has a number, not a text");
  CHECK(misuse("{\"n\": 1}\n", {.columns = {{"n", {.labels = text_labels{{"a", "a"}}}}}}) ==
        "columns['n'].labels: 'a' is named twice");
  CHECK(misuse("{\"n\": 1}\n",
               {.columns = {{"n", {.labels = text_labels{{"a", "b"}}, .fill = "a"}}}}) ==
        "columns['n']: fill is a text, but values are numbers");
  CHECK(misuse("{\"n\": 1}\n", {.columns = {{"n", {.is_text = true}}}}) ==
        "columns['n']: the column has a number, not a text");
  CHECK(misuse(lines, {.columns = {{"t", {.fill = 1.0}}}}) ==
        "columns['t']: fill is a number, but values are texts");
  CHECK(misuse(lines, {.columns = {{"t", {.type = element_type::f16}}}}) ==
        "columns['t']: float16 is not made of text; give f32, and convert it by a transform");
  CHECK(misuse("{\"n\": 1}\n", {.columns = {{"n", {.type = element_type::u8, .fill = -1.0}}}}) ==
        "columns['n'].fill is -1, which uint8 cannot hold");
  CHECK(misuse("{\"n\": \"a\"}\n",
               {.columns = {{"n", {.labels = text_labels{.names = {"a"}}, .fill = "b"}}}})
            .starts_with("columns['n'].fill: label 'b' is not one of 1 class (a; "));
}
