#include "statistics/trace_file.hpp"

#include <feedline/error.hpp>

#include <system_error>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t buffer_bytes = 1 << 20;

}  // namespace

trace_file::trace_file(std::string path)
    : path_{std::move(path)}, file_{std::fopen(path_.c_str(), "wbe")} {
  if (!file_) fail("cannot be opened for writing", errno);
  std::setbuf(file_.get(), nullptr);  // so that an error comes from the call that met it
  waiting_.reserve(buffer_bytes + buffer_bytes / 8);
}

trace_file& trace_file::operator<<(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() >= buffer_bytes) flush();
  return *this;
}

void trace_file::close() {
  flush();
  if (std::fclose(file_.release()) != 0) fail("cannot be written", errno);
}

void trace_file::flush() {
  errno = 0;
  if (std::fwrite(waiting_.data(), 1, waiting_.size(), file_.get()) != waiting_.size())
    fail("cannot be written", errno);
  waiting_.clear();
}

void trace_file::fail(std::string_view what, int number) const {
  throw error{path_ + ": " + std::string{what} + ": " + std::generic_category().message(number)};
}

std::vector<std::vector<const trace_event*>> by_lane(const trace& of) {
  std::vector<std::vector<const trace_event*>> lanes(of.lanes.size());
  for (const trace_event& event : of.events) {
    if (event.lane >= lanes.size()) {
      throw usage_error{"a trace has " + std::to_string(lanes.size()) +
                        " lanes, and an event of lane " + std::to_string(event.lane) +
                        ": lanes are counted from 0"};
    }
    if (event.end < event.begin) {
      throw usage_error{"an event of the lane '" + of.lanes[event.lane].name + "' ends at " +
                        std::to_string(event.end.count()) + " ns, before it begins at " +
                        std::to_string(event.begin.count()) + " ns"};
    }
    lanes[event.lane].push_back(&event);
  }
  for (auto& events : lanes) {
    std::stable_sort(events.begin(), events.end(), [](const trace_event* a, const trace_event* b) {
      return a->begin < b->begin;
    });
  }
  return lanes;
}

std::string html_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:  // HTML allows no references to most control characters
        escaped += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
    }
  }
  return escaped;
}

}  // namespace feedline::detail
