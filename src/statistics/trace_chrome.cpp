#include <feedline/statistics/trace.hpp>

#include "detail/json/flat_json.hpp"
#include "statistics/trace_file.hpp"

#include <cstddef>
#include <cstdlib>
#include <string>

// The Trace Event Format: https://docs.google.com/document/d/
// 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (the copy that Perfetto's documentation links).

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// With three decimals, so that no nanosecond is lost.
std::string microseconds(std::chrono::nanoseconds time) {
  const auto whole = std::lldiv(time.count() < 0 ? -time.count() : time.count(), 1000);
  const std::string places = std::to_string(1000 + whole.rem).substr(1);
  return (time.count() < 0 ? "-" : "") + std::to_string(whole.quot) + "." + places;
}

std::string metadata(const char* name, std::size_t row, const std::string& arguments) {
  return std::string{R"({"ph":"M","pid":1,"tid":)"} + std::to_string(row) + R"(,"name":")" + name +
         R"(","args":{)" + arguments + "}}";
}

std::string complete_event(const trace_event& event, std::size_t row) {
  const std::string name{to_string(event.activity)};
  std::string text = R"({"ph":"X","pid":1,"tid":)" + std::to_string(row) + R"(,"name":")" + name +
                     R"(","cat":")" + (is_busy(event.activity) ? "busy" : "waiting") +
                     R"(","ts":)" + microseconds(event.begin) + R"(,"dur":)" +
                     microseconds(event.end - event.begin) + R"(,"args":{"epoch":)" +
                     std::to_string(event.epoch);
  if (event.batch) {
    text += R"(,"batch":)" + std::to_string(*event.batch) + R"(,"batches":)" +
            std::to_string(event.batches);
  }
  return text + "}}";
}

}  // namespace

void write_chrome_trace(const trace& what, const std::string& path, std::string_view title) {
  const auto lanes = detail::by_lane(what);
  detail::trace_file file{path};
  file << R"({"displayTimeUnit":"ns","otherData":{"program":"feedline"},"traceEvents":[)"
       << "\n"
       << metadata("process_name", 0, "\"name\":" + detail::json_string(title));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const trace_lane& lane = what.lanes[i];
    const std::size_t row = i + 1;  // Perfetto takes 0 for the idle thread
    file << ",\n"
         << metadata("thread_name", row, "\"name\":" + detail::json_string(lane.name)) << ",\n"
         << metadata("thread_sort_index", row,
                     "\"sort_index\":" + std::to_string(row) +
                         ",\"kind\":" + detail::json_string(to_string(lane.kind)) +
                         ",\"dropped\":" + std::to_string(lane.dropped));
    for (const trace_event* event : lanes[i]) file << ",\n" << complete_event(*event, row);
  }
  for (const trace_mark& mark : what.marks) {
    file << ",\n"
         << R"({"ph":"i","s":"p","pid":1,"tid":0,"name":)" << detail::json_string(mark.text)
         << R"(,"cat":"mark","ts":)" << microseconds(mark.at) << "}";
  }
  file << "\n]}\n";
  file.close();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
