#include <feedline/statistics/trace.hpp>

#include "statistics/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

// In pixels.
constexpr double width = 960;
constexpr double right = 110;
constexpr double top = 64;
constexpr double row = 26;
constexpr double bar = 20;
constexpr double waiting_bar = 7;
constexpr int columns_a_pixel = 4;
constexpr std::size_t columns = static_cast<std::size_t>(width) * columns_a_pixel;
/// An event of this many columns has its own bar.
constexpr std::size_t own_columns = std::size_t{3} * columns_a_pixel;

constexpr const char* style = R"(<style>
svg { background: #fff; font: 12px system-ui, sans-serif }
text { fill: #24292f } .faint { fill: #656d76 } .grid { stroke: #d0d7de }
.name { fill: #fff; font-size: 10px; pointer-events: none }
.reading { fill: #1f6feb } .copying { fill: #d9730d }
.computing { fill: #2da44e } .starved { fill: #f2b8bd } .stalled { fill: #d3d9e0 }
.mark { stroke: #8250df; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
svg { background: #0d1117 } text { fill: #e6edf3 } .faint { fill: #8d96a0 }
.grid { stroke: #30363d } .name { fill: #fff }
.reading { fill: #388bfd } .copying { fill: #e0823d }
.computing { fill: #3fb950 } .starved { fill: #6e2c33 } .stalled { fill: #3a424c }
.mark { stroke: #a371f7 }
}
</style>
)";

struct time_span {
  double begin = 0;   ///< ns
  double length = 1;  ///< ns, at least 1
};

time_span span_of(const trace& what) {
  if (what.events.empty()) return {};
  const auto [first, last] = std::minmax_element(
      what.events.begin(), what.events.end(),
      [](const trace_event& a, const trace_event& b) { return a.begin < b.begin; });
  auto end = last->end;
  for (const trace_event& event : what.events) end = std::max(end, event.end);
  return {static_cast<double>(first->begin.count()),
          std::max(static_cast<double>((end - first->begin).count()), 1.0)};
}

std::string number(double value) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

/// A time as "250 µs": in the largest unit of which it has one at least.
std::string duration(double ns) {
  constexpr std::array<const char*, 4> units{"ns", "µs", "ms", "s"};
  std::size_t unit = 0;
  while (unit + 1 < units.size() && std::abs(ns) >= 1000) {
    ns /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%.4g %s", ns, units.at(unit));
  return text.data();
}

/// One, two or five times a power of ten, so that about eight of them make `length`.
double tick(double length) {
  const double least = length / 9;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= least) return step * power;
  }
  return 10 * power;
}

/// The event drawn in a quarter of a pixel: the one that takes most of it.
struct column {
  const trace_event* event = nullptr;
  double taken = 0;
};

std::vector<column> columns_of(const std::vector<const trace_event*>& events, time_span span) {
  std::vector<column> found(columns);
  for (const trace_event* event : events) {
    const auto place = [&](std::chrono::nanoseconds at) {
      return (static_cast<double>(at.count()) - span.begin) / span.length * columns;
    };
    const double begin = place(event->begin);
    const double end = place(event->end);
    for (auto i = static_cast<std::size_t>(begin); i < columns; ++i) {
      const auto at = static_cast<double>(i);
      const double taken = std::min(end, at + 1) - std::max(begin, at);
      if (taken <= 0) break;
      if (taken > found[i].taken) found[i] = {event, taken};
    }
  }
  return found;
}

class drawing {
 public:
  drawing(detail::trace_file& file, const trace& what) : file_{file}, span_{span_of(what)} {
    std::size_t longest = 0;
    for (const trace_lane& lane : what.lanes) longest = std::max(longest, lane.name.size());
    left_ = std::max(110.0, 24 + 7.2 * static_cast<double>(longest));
    bottom_ = top + row * static_cast<double>(what.lanes.size());
  }

  void begin(std::string_view title) {
    const std::string text = detail::xml_text(title);
    file_ << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 )"
          << number(left_ + width + right) << " " << number(bottom_ + 36) << "\" role=\"img\">\n"
          << "<title>" << text << "</title>\n"
          << style << "<text x=\"8\" y=\"22\" font-size=\"15\" font-weight=\"600\">" << text
          << "</text>\n";
    write_axis();
  }

  void write_lane(const trace_lane& lane, const std::vector<const trace_event*>& events,
                  std::size_t number_of_lane) {
    const double y = top + row * static_cast<double>(number_of_lane);
    double busy = 0;
    for (const trace_event* event : events) {
      if (is_busy(event->activity)) busy += length_of(*event);
    }
    const auto percent = static_cast<std::uint64_t>(std::lround(100 * busy / span_.length));
    file_ << "<text x=\"8\" y=\"" << number(y + 14) << "\">" << detail::xml_text(lane.name)
          << "</text>\n<text class=\"faint\" x=\"" << number(left_ + width + 8) << "\" y=\""
          << number(y + 14) << "\">busy " << percent << " %</text>\n";
    const auto found = columns_of(events, span_);
    // Short events that follow each other are one bar, if they are of one kind.
    const auto same = [&](const trace_event* a, const trace_event* b) {
      if (a == b) return true;
      return a && b && a->activity == b->activity && !is_long(*a) && !is_long(*b);
    };
    for (std::size_t begin = 0, end = 0; begin < columns; begin = end) {
      for (end = begin + 1; end < columns && same(found[begin].event, found[end].event);) ++end;
      if (found[begin].event) write_bar(*found[begin].event, begin, end, y);
    }
  }

  void write_marks(const std::vector<trace_mark>& marks) {
    for (const trace_mark& mark : marks) {
      const double at = (static_cast<double>(mark.at.count()) - span_.begin) / span_.length;
      if (at < 0 || at > 1) continue;
      file_ << "<path class=\"mark\" d=\"M" << number(left_ + at * width) << " " << number(top - 8)
            << "V" << number(bottom_) << "\"><title>" << detail::xml_text(mark.text)
            << "</title></path>\n";
    }
  }

  void end() {
    constexpr std::array kinds{trace_activity::reading, trace_activity::copying,
                               trace_activity::computing, trace_activity::starved,
                               trace_activity::stalled};
    constexpr std::array names{"reading", "copying", "computing", "waits for input",
                               "waits for room"};
    const double y = bottom_ + 14;
    double x = left_;
    for (std::size_t i = 0; i < kinds.size(); ++i, x += 130) {
      file_ << "<rect class=\"" << to_string(kinds.at(i)) << "\" x=\"" << number(x) << "\" y=\""
            << number(y) << "\" width=\"12\" height=\"12\"/><text x=\"" << number(x + 18)
            << "\" y=\"" << number(y + 10) << "\">" << names.at(i) << "</text>\n";
    }
    file_ << "</svg>\n";
  }

 private:
  static double length_of(const trace_event& event) {
    return static_cast<double>((event.end - event.begin).count());
  }
  [[nodiscard]] bool is_long(const trace_event& event) const {
    return length_of(event) * columns >= own_columns * span_.length;
  }

  void write_bar(const trace_event& event, std::size_t begin, std::size_t end, double y) {
    const bool alone = is_long(event);
    const bool busy = is_busy(event.activity);
    const double height = busy ? bar : waiting_bar;
    const double x = left_ + static_cast<double>(begin) / columns_a_pixel;
    const double length = static_cast<double>(end - begin) / columns_a_pixel;
    file_ << "<rect class=\"" << to_string(event.activity) << "\" x=\"" << number(x) << "\" y=\""
          << number(y + (bar - height) / 2) << "\" width=\""
          << number(length - (alone && length > 1 ? 0.5 : 0)) << "\" height=\"" << number(height)
          << "\"";
    if (!alone) {
      file_ << "/>\n";
      return;
    }
    file_ << "><title>" << detail::describe(event) << ": " << duration(length_of(event))
          << "</title></rect>\n";
    if (length < 30 || !event.batch || !busy) return;
    file_ << "<text class=\"name\" text-anchor=\"middle\" x=\"" << number(x + length / 2)
          << "\" y=\"" << number(y + bar / 2 + 3.5) << "\">" << *event.batch << "</text>\n";
  }

  void write_axis() {
    const double step = tick(span_.length);
    for (int i = 0; i * step <= span_.length; ++i) {
      const std::string x = number(left_ + i * step / span_.length * width);
      file_ << "<line class=\"grid\" x1=\"" << x << "\" x2=\"" << x << "\" y1=\"" << number(top - 8)
            << "\" y2=\"" << number(bottom_)
            << "\"/><text class=\"faint\" text-anchor=\"middle\" x=\"" << x << "\" y=\""
            << number(top - 12) << "\">" << (i == 0 ? "0" : duration(i * step)) << "</text>\n";
    }
  }

  detail::trace_file& file_;
  time_span span_;
  double left_;    ///< where the bars begin, after the longest name
  double bottom_;  ///< where the last lane ends
};

}  // namespace

void write_trace_svg(const trace& what, const std::string& path, std::string_view title) {
  const auto lanes = detail::by_lane(what);
  detail::trace_file file{path};
  drawing on{file, what};
  on.begin(title);
  for (std::size_t i = 0; i < lanes.size(); ++i) on.write_lane(what.lanes[i], lanes[i], i);
  on.write_marks(what.marks);
  on.end();
  file.close();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
