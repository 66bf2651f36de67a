#include <feedline/statistics/trace.hpp>

#include "detail/json/flat_json.hpp"
#include "statistics/trace_file.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// Escapes JSON inside a page's script: '<' occurs only in strings, and could begin "</script>".
std::string script_string(std::string_view text) {
  std::string safe;
  for (const char letter : detail::json_string(text)) {
    if (letter == '<') {
      safe += "\\u003c";
    } else {
      safe += letter;
    }
  }
  return safe;
}

void write_lanes(detail::trace_file& file, const trace& what) {
  file << "{\"lanes\":[";
  for (std::size_t i = 0; i < what.lanes.size(); ++i) {
    const trace_lane& lane = what.lanes[i];
    file << (i == 0 ? "" : ",") << "\n{\"name\":" << script_string(lane.name) << ",\"kind\":\""
         << to_string(lane.kind) << "\",\"dropped\":" << lane.dropped << "}";
  }
  file << "]";
}

/// Seven numbers an event, as page.js reads them: so a page of 100,000 events stays small.
void write_events(detail::trace_file& file,
                  const std::vector<std::vector<const trace_event*>>& lanes) {
  file << ",\n\"events\":[";
  const char* before = "\n";
  for (const auto& events : lanes) {
    for (const trace_event* event : events) {
      file << before << event->lane << "," << static_cast<std::uint64_t>(event->activity) << ","
           << std::to_string(event->begin.count()) << ","
           << std::to_string((event->end - event->begin).count()) << "," << event->epoch << ","
           << (event->batch ? std::to_string(*event->batch) : "-1") << "," << event->batches;
      before = ",\n";
    }
  }
  file << "]";
}

void write_marks(detail::trace_file& file, const trace& what) {
  file << ",\n\"marks\":[";
  const char* before = "\n";
  for (const trace_mark& mark : what.marks) {
    file << before << "{\"at\":" << std::to_string(mark.at.count())
         << ",\"text\":" << script_string(mark.text) << "}";
    before = ",\n";
  }
  file << "]}\n";
}

}  // namespace

void write_trace_page(const trace& what, const std::string& path, std::string_view title) {
  const auto lanes = detail::by_lane(what);
  detail::trace_file file{path};
  std::string_view rest = detail::page_html;
  while (!rest.empty()) {  // page.html has marks for four parts: {{title}} and so on
    const std::size_t begin = rest.find("{{");
    file << rest.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = rest.find("}}", begin);
    const std::string_view part = rest.substr(begin + 2, end - begin - 2);
    rest.remove_prefix(end + 2);
    if (part == "title") {
      file << detail::html_text(title);
    } else if (part == "style") {
      file << detail::page_css;
    } else if (part == "script") {
      file << detail::page_js;
    } else if (part == "trace") {
      write_lanes(file, what);
      write_events(file, lanes);
      write_marks(file, what);
    } else {
      throw std::logic_error{"feedline: page.html names " + std::string{part}};
    }
  }
  file.close();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
