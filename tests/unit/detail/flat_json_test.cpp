#include "detail/json/flat_json.hpp"

#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace feedline::detail;
using feedline::test::message_of;

namespace {

using members = std::vector<std::pair<std::string, flat_json_value>>;

members read(std::string_view text) {
  members found;
  read_flat_json(text, [&](const std::string& name, flat_json_value value) {
    found.emplace_back(name, std::move(value));
  });
  return found;
}

std::string refusal(std::string_view text) {
  return message_of<json_error>([&] { (void)read(text); });
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("flat JSON: numbers, strings and arrays of strings are read, with any spaces between",
          "[detail][host]") {
  CHECK(read("{}").empty());
  CHECK(read(R"({"a":0,"b":18446744073709551615,"c":"text","d":[],"e":["x","y"]})") ==
        members{{"a", std::uint64_t{0}},
                {"b", UINT64_MAX},
                {"c", std::string{"text"}},
                {"d", texts{}},
                {"e", texts{"x", "y"}}});
  CHECK(read(" {\n\t\"a\" : [ \"x\" ,\r\n \"y\" ] } \n") == members{{"a", texts{"x", "y"}}});
}

TEST_CASE("flat JSON: strings are escaped, and read back", "[detail][host]") {
  for (const std::string& text :
       {std::string{}, std::string{"\"quoted\" and \\"}, std::string{"a\nb\tc"},
        std::string{"nul \0 within", 12}, std::string{"\x01\x1f"}, std::string{"Größe 日本 😀"}}) {
    const std::string quoted = json_string(text);
    CHECK(quoted.find('\n') == std::string::npos);
    CHECK(read("{" + quoted + ":" + quoted + "}") == members{{text, text}});
  }
  CHECK(json_string("a\nb") == R"("a\u000ab")");
}

TEST_CASE("flat JSON: strings are read as other programs escape them", "[detail][host]") {
  CHECK(read(R"({"\u0061\/\b\f\n\r\t":"\u00e9\u65e5\ud83d\ude00"})") ==
        members{{"a/\b\f\n\r\t", std::string{"é日😀"}}});
}

TEST_CASE("flat JSON: text that is no flat object is refused with the position", "[detail][host]") {
  CHECK(refusal("") == "it ends after 0 bytes, where '{' is missing");
  CHECK(refusal("weights") == "at byte 0 there should be '{'");
  CHECK(refusal(R"({"a":1)") == "it ends after 6 bytes, where ',' or '}' is missing");
  CHECK(refusal(R"({"a":"te)") == "it ends after 8 bytes, where the end of a string is missing");
  CHECK(refusal(R"({"a":1} x)") == "at byte 8 there should be the end");
  CHECK(refusal(R"({"a":1,})") == "at byte 7 there should be a string");
  CHECK(refusal(R"({"a" 1})") == "at byte 5 there should be ':'");
  CHECK(refusal(R"({"a":-1})") ==
        "at byte 5 there should be a whole number, a string or an array of strings");
  CHECK(refusal(R"({"a":1.5})") == "at byte 6 there should be ',' or '}'");
  CHECK(refusal(R"({"a":01})") == "at byte 5 there should be a whole number of at most 64 bits");
  CHECK(refusal(R"({"a":18446744073709551616})") ==
        "at byte 5 there should be a whole number of at most 64 bits");
  CHECK(refusal(R"({"a":[1]})") == "at byte 6 there should be a string");
  CHECK(refusal(R"({"a":["x" "y"]})") == "at byte 10 there should be ',' or ']'");
  CHECK(refusal("{\"a\":\"\n\"}") == "at byte 6 there should be no control character");
  CHECK(refusal(R"({"a":"\x"})") == R"(at byte 7 there should be one of "\/bfnrtu after '\')");
  CHECK(refusal(R"({"a":"\u12g4"})") == "at byte 8 there should be four hexadecimal digits");
  CHECK(refusal(R"({"a":"\ud83d"})") == "at byte 12 there should be both halves of a character");
  CHECK(refusal(R"({"a":"\ude00"})") == "at byte 12 there should be both halves of a character");
}

TEST_CASE("flat JSON: every text that is cut short is refused", "[detail][host]") {
  const std::string whole = R"({"a": 12, "b": ["x", "\u00e9"], "c": "text"})";
  CHECK(read(whole).size() == 3);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(whole.substr(0, length));
    CHECK(refusal(whole.substr(0, length)).find("it ends after") == 0);
  }
}
