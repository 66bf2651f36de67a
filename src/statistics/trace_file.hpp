#pragma once

#include <feedline/statistics/trace.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// A text file that is being written. All functions throw `error` with the path and the system's
/// words; an object that is destroyed before `close` leaves an incomplete file.
class trace_file {
 public:
  explicit trace_file(std::string path);

  trace_file& operator<<(std::string_view text);
  trace_file& operator<<(std::uint64_t number) { return *this << std::to_string(number); }
  /// Writes the rest. Nothing may be written after it.
  void close();

 private:
  struct end_file {
    void operator()(std::FILE* file) const noexcept { (void)std::fclose(file); }
  };
  void flush();
  [[noreturn]] void fail(std::string_view what, int number) const;

  std::string path_;
  std::unique_ptr<std::FILE, end_file> file_;
  std::string waiting_;
};

/// The events of each lane, in order of their begin. @throws usage_error if an event names no lane,
/// or ends before it begins.
[[nodiscard]] std::vector<std::vector<const trace_event*>> by_lane(const trace& of);

/// Escapes text for HTML, also for use inside an attribute's quotes.
[[nodiscard]] std::string html_text(std::string_view text);

/// Parts of the page, from src/statistics/page.
extern const std::string_view page_html;
extern const std::string_view page_css;
extern const std::string_view page_js;

}  // namespace feedline::detail
