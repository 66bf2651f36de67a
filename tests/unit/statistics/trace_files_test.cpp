#include <feedline/error.hpp>

#include "statistics/trace_file.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/files/temporary_directory.hpp"
#include "unit/statistics/example_trace.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

using namespace feedline;
using feedline::test::example_trace;
using feedline::test::message_of;

namespace {

using writer = void (*)(const trace&, const std::string&, std::string_view);
constexpr std::array<writer, 2> writers{write_chrome_trace, write_trace_page};

}  // namespace

TEST_CASE("trace files: a path that cannot be opened is an error with the system's message",
          "[statistics][host]") {
  const test::temporary_directory folder;
  const auto path = folder.path() / "none" / "trace.json";
  for (const writer write : writers) {
    CHECK(message_of<error>([&] { write(example_trace(), path, "title"); }) ==
          path.string() + ": cannot be opened for writing: No such file or directory");
  }
}

TEST_CASE("trace files: a full disk is an error, whether it shows early or at the end",
          "[statistics][host]") {
  const std::filesystem::path full{"/dev/full"};
  if (!std::filesystem::exists(full)) FEEDLINE_SKIP("there is no /dev/full");
  const std::string message = "/dev/full: cannot be written: No space left on device";
  trace large = example_trace();
  while (large.events.size() < 100'000) large.events.push_back(large.events.front());
  for (const writer write : writers) {
    CHECK(message_of<error>([&] { write(example_trace(), full, "title"); }) == message);
    CHECK(message_of<error>([&] { write(large, full, "title"); }) == message);
  }
}

TEST_CASE("trace files: an event of no lane, or one that ends too early, is refused before a file",
          "[statistics][host]") {
  const test::temporary_directory folder;
  const auto path = folder.path() / "trace";
  trace no_lane = example_trace();
  no_lane.events[2].lane = 2;
  trace backwards = example_trace();
  backwards.events[2].end = backwards.events[2].begin - std::chrono::nanoseconds{1};
  for (const writer write : writers) {
    CHECK(message_of<usage_error>([&] { write(no_lane, path, ""); }) ==
          "a trace has 2 lanes, and an event of lane 2: lanes are counted from 0");
    CHECK(message_of<usage_error>([&] { write(backwards, path, ""); }) ==
          "an event of the lane 'fl-reader-0' ends at 199999 ns, before it begins at 200000 ns");
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("trace files: text of HTML has no letter with a meaning, and no control character",
          "[statistics][host]") {
  CHECK(detail::html_text("<a b=\"c\" d='e'>&\n\x01") ==
        "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;  ");
}
