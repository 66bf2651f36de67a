#include "formats/columns/hub_classes.hpp"

#include <feedline/error.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"

#include <map>
#include <string>
#include <vector>

using namespace feedline;

using class_map = std::map<std::string, std::vector<std::string>>;

TEST_CASE("classes of the Hub: labels are found in columns, lists and structs", "[host]") {
  // Written by datasets 4; "old" is a list in the way of datasets 2.
  const std::string text = R"({"info": {"features": {
    "image": {"_type": "Image"},
    "label": {"names": ["cat", "dog"], "_type": "ClassLabel"},
    "tags": {"feature": {"names": ["N", "V", "O"], "_type": "ClassLabel"}, "_type": "List"},
    "old": [{"names": ["x"], "_type": "ClassLabel"}],
    "objects": {"box": {"feature": {"dtype": "float32", "_type": "Value"}, "length": 4,
                        "_type": "Sequence"},
                "category": {"names": ["a", "b"], "_type": "ClassLabel"}},
    "parts": {"feature": {"kind": {"names": ["p"], "_type": "ClassLabel"}}, "_type": "Sequence"},
    "bare": {"names": [], "_type": "ClassLabel"}}}})";
  CHECK(detail::read_hub_classes(text, "f") == class_map{{"label", {"cat", "dog"}},
                                                         {"tags", {"N", "V", "O"}},
                                                         {"old", {"x"}},
                                                         {"objects.category", {"a", "b"}},
                                                         {"parts.kind", {"p"}}});
  CHECK(detail::read_hub_classes(R"({"info": {}})", "f").empty());
}

TEST_CASE("classes of the Hub, bad input: what is no description is an error", "[host]") {
  const auto refusal = [](const std::string& text) {
    return test::message_of<dataset_error>([&] { (void)detail::read_hub_classes(text, "f"); });
  };
  for (const std::string text : {"", "{", "[]", "{}", "{\"info\": 1}"})
    CHECK(refusal(text).starts_with("f: "));
  CHECK(test::contains(
      refusal(R"({"info": {"features": {"y": {"names": [1], "_type": "ClassLabel"}}}})"),
      "the label 'y'"));
  std::string deep = "{\"info\": {\"features\": ";
  for (int i = 0; i < 1000; ++i) deep += "{\"a\":";
  CHECK(refusal(deep).starts_with("f: "));
}
