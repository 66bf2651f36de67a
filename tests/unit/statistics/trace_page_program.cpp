// trace_page_program FOLDER: writes the pages that trace_page_test.sh opens in a browser.

#include <feedline/statistics/trace.hpp>

#include "unit/statistics/example_trace.hpp"

#include <cstdint>
#include <filesystem>

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder{arguments[1]};
  const feedline::trace example = feedline::test::example_trace();
  feedline::write_trace_page(example, folder / "example.html", "Two <b>lanes</b>");
  feedline::write_trace_page({}, folder / "empty.html");

  feedline::trace many{{{"busy", feedline::lane_kind::thread, 0}}, {}};
  for (std::int64_t i = 0; i < 200'000; ++i) {
    const std::chrono::nanoseconds begin{i * 1000};
    many.events.push_back({0, feedline::trace_activity::reading, begin,
                           begin + std::chrono::nanoseconds{500}, 0,
                           static_cast<std::uint64_t>(i)});
  }
  feedline::write_trace_page(many, folder / "many.html");
}
