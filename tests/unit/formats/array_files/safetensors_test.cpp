#include <feedline/error.hpp>
#include <feedline/formats/array_files.hpp>
#include <feedline/formats/open.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/table_rows.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace feedline;
using test::shown_fields;
using test::strings;
using test::value_of;

namespace {

/// A header of safetensors, and the data.
std::string safetensors(std::string header, const std::string& data) {
  std::string file(8, '\0');
  for (unsigned i = 0; i < 8; ++i) file[i] = static_cast<char>(header.size() >> 8 * i & 0xff);
  return file + header + data;
}

}  // namespace

TEST_CASE("array files: safetensors, and single numbers", "[dataset][host]") {
  const test::temporary_directory folder;
  const auto write = [&](std::string_view name, const std::string& text) {
    return test::write_text(folder, name, text);
  };
  const std::string good = safetensors(
      R"({"__metadata__":{"a":"b"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
      R"("y":{"dtype":"I16","shape":[],"data_offsets":[2,4]},)"
      R"("z":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[4,5]}})",
      std::string("\1\2\3\0\4", 5));
  (void)write("1.safetensors", good);
  (void)write("2.safetensors", good);
  const auto data = open(folder.path().string());
  CHECK(shown_fields(*data) == strings{"x: uint8[2]", "y: int16[]"});
  CHECK(value_of<std::int16_t>(*data, 1, "y") == 3);
  const auto refusal = [&](const std::string& text) {
    const std::string file = write("bad", text);
    return test::message_of<dataset_error>([&] { (void)open_array_files({file}); })
        .substr(file.size());
  };
  const std::string x = R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})";
  CHECK(test::contains(refusal(safetensors(x, "ab")), "its bytes are not in the file"));
  CHECK(test::contains(
      refusal(safetensors(R"({"x":{"dtype":"U8","shape":[9],"data_offsets":[0,3]}})", "abc")),
      "not as many as its shape has"));
  CHECK(test::contains(refusal(safetensors(x, "abc").substr(0, 20)), "the header is cut short"));
  CHECK(test::contains(refusal(safetensors("{\"x\":1}", "")), "the header is not as it should be"));
  CHECK(test::contains(refusal(safetensors("{\"x\":{},\"x\":{}}", "")), "the name 'x'"));
  CHECK(test::contains(refusal("neither of these"), "is no file of arrays"));
}

TEST_CASE("array files: a shape that has the name of another array leaves the array out",
          "[dataset][host]") {
  const test::temporary_directory folder;
  for (const std::string extent : {"1", "2"})
    (void)test::write_text(
        folder, extent + ".safetensors",
        safetensors(R"({"b":{"dtype":"U8","shape":[1,)" + extent + R"(],"data_offsets":[0,)" +
                        extent + R"(]},"b_shape":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})",
                    "ab"));
  const std::string path = folder.path().string();
  CHECK(shown_fields(*open(path)) == strings{"b_shape: uint8[]"});
  CHECK(test::message_of<usage_error>([&] { (void)open(path, {.fields = {"b"}}); }) ==
        "open_array_files: 'b' cannot be a field: it is of shapes that differ, so that it needs a "
        "field 'b_shape', which is the name of another array; save that one under another name");
}
