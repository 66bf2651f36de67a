#include <feedline/statistics/trace.hpp>

#include "support/checks/catch.hpp"
#include "support/files/temporary_directory.hpp"
#include "unit/statistics/example_trace.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

using namespace feedline;
using feedline::test::example_trace;

namespace {

using writer = void (*)(const trace&, const std::string&, std::string_view);

std::string written(writer write, const trace& what, std::string_view title = "A \"title\" & <b>") {
  const test::temporary_directory folder;
  const auto path = folder.path() / "written";
  write(what, path, title);
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The page's data.
nlohmann::json data_of(const std::string& page) {
  const std::string begin = R"(<script type="application/json" id="trace">)";
  const auto from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

}  // namespace

TEST_CASE("chrome trace: it is JSON, a row for each lane and each event with its time and batch",
          "[statistics][host]") {
  const trace example = example_trace();
  const auto read = nlohmann::json::parse(written(write_chrome_trace, example));
  std::vector<nlohmann::json> complete;
  std::vector<std::string> names;
  for (const auto& event : read.at("traceEvents")) {
    CHECK(event.at("pid") == 1);
    if (event.at("ph") == "X") complete.push_back(event);
    if (event.at("name") == "thread_name") names.push_back(event.at("args").at("name"));
    if (event.at("name") == "process_name")
      CHECK(event.at("args").at("name") == "A \"title\" & <b>");
    if (event.at("name") == "thread_sort_index" && event.at("tid") == 1)
      CHECK(event.at("args").at("dropped") == 3);
  }
  CHECK(names == std::vector<std::string>{example.lanes[0].name, example.lanes[1].name});
  REQUIRE(complete.size() == example.events.size());
  CHECK(complete[1] == nlohmann::json::parse(
                           R"({"ph":"X","pid":1,"tid":1,"name":"reading","cat":"busy","ts":200.0,
                               "dur":100.0,"args":{"epoch":0,"batch":1,"batches":1}})"));
  CHECK(complete[4] == nlohmann::json::parse(
                           R"({"ph":"X","pid":1,"tid":1,"name":"stalled","cat":"waiting",
                               "ts":700.0,"dur":100.0,"args":{"epoch":1}})"));
  CHECK(complete[5].at("tid") == 2);
}

TEST_CASE("chrome trace: a mark is an instant event of the whole process", "[statistics][host]") {
  const auto read = nlohmann::json::parse(written(write_chrome_trace, example_trace()));
  CHECK(read.at("traceEvents").back() ==
        nlohmann::json::parse(R"({"ph":"i","s":"p","pid":1,"tid":0,"ts":350.0,"cat":"mark",
                                  "name":"readers < 2 & </script>"})"));
}

TEST_CASE("chrome trace: no nanosecond is lost", "[statistics][host]") {
  using std::chrono::nanoseconds;
  trace odd{{{"one", lane_kind::thread, 0}}, {}};
  odd.events.push_back({0,
                        trace_activity::reading,
                        nanoseconds{1'234'567'890'123'005},
                        nanoseconds{1'234'567'890'123'042},
                        0,
                        {}});
  odd.events.push_back({0, trace_activity::reading, nanoseconds{-7}, nanoseconds{-6}, 0, {}});
  const std::string text = written(write_chrome_trace, odd);
  CHECK(count_of(text, R"("ts":1234567890123.005,"dur":0.037)") == 1);
  CHECK(count_of(text, R"("ts":-0.007,"dur":0.001)") == 1);
}

TEST_CASE("trace page: it holds all events, and nothing in it ends the script early",
          "[statistics][host]") {
  const trace example = example_trace();
  const std::string page = written(write_trace_page, example);
  const auto data = data_of(page);
  REQUIRE(data.at("lanes").size() == 2);
  CHECK(data["lanes"][0] ==
        nlohmann::json::parse(R"({"name":"fl-reader-0","kind":"thread","dropped":3})"));
  CHECK(data["lanes"][1].at("name") == example.lanes[1].name);
  CHECK(data["lanes"][1].at("kind") == "stream");
  REQUIRE(data.at("events").size() == 7 * example.events.size());
  const auto event = [&](std::size_t which) {
    const auto begin = data["events"].begin() + static_cast<std::ptrdiff_t>(7 * which);
    return std::vector<std::int64_t>(begin, begin + 7);
  };
  CHECK(event(1) == std::vector<std::int64_t>{0, 0, 200'000, 100'000, 0, 1, 1});
  CHECK(event(4) == std::vector<std::int64_t>{0, 4, 700'000, 100'000, 1, -1, 1});
  CHECK(event(8) == std::vector<std::int64_t>{1, 1, 700'000, 50'000, 0, 3, 1});
  CHECK(data.at("marks") ==
        nlohmann::json::parse(R"([{"at":350000,"text":"readers < 2 & </script>"}])"));
  CHECK(count_of(page, "</script>") == 2);
  CHECK(count_of(page, "<title>A &quot;title&quot; &amp; &lt;b&gt;</title>") == 1);
  CHECK(count_of(page, "{{") == 0);
}

TEST_CASE("trace page: it loads nothing from anywhere", "[statistics][host]") {
  const std::string page = written(write_trace_page, example_trace());
  for (const char* const way : {"http", "src=", "href", "url(", "@import", "fetch("}) {
    CAPTURE(way);
    CHECK(count_of(page, way) == 0);
  }
}

TEST_CASE("traces: without events the files are still whole", "[statistics][host]") {
  const trace none{{{"one", lane_kind::thread, 0}}, {}};
  CHECK(nlohmann::json::parse(written(write_chrome_trace, none)).at("traceEvents").size() == 3);
  CHECK(nlohmann::json::parse(written(write_chrome_trace, {})).at("traceEvents").size() == 1);
  CHECK(data_of(written(write_trace_page, none)).at("events").empty());
  CHECK(data_of(written(write_trace_page, {})).at("lanes").empty());
}

TEST_CASE("traces: those of one epoch keep all lanes", "[statistics][host]") {
  const trace example = example_trace();
  const trace first = only_epoch(example, 0);
  CHECK(first.lanes == example.lanes);
  CHECK(first.events.size() == 8);
  REQUIRE(only_epoch(example, 1).events.size() == 1);
  CHECK(only_epoch(example, 1).events[0] == example.events.back());
  CHECK(first.marks == example.marks);
  CHECK(only_epoch(example, 1).marks.empty());  // they were before it
}
