#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>

#include "io/file_system.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

constexpr std::uint64_t max_numbers = 1'000'000;
constexpr std::size_t max_digits = 18;  // digits of a number that always fits in 64 bits

/// The first range of a pattern: the text before and after it, and its ends as written.
struct number_range {
  std::string before;
  std::string first;
  std::string last;
  std::string behind;
};

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= max_digits &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<number_range> find_range(const std::string& pattern) {
  for (auto open = pattern.find('{'); open != std::string::npos;
       open = pattern.find('{', open + 1)) {
    const auto close = pattern.find('}', open);
    const auto dots = pattern.find("..", open);
    if (close == std::string::npos || dots > close) continue;
    number_range found{pattern.substr(0, open), pattern.substr(open + 1, dots - open - 1),
                       pattern.substr(dots + 2, close - dots - 2), pattern.substr(close + 1)};
    if (is_number(found.first) && is_number(found.last)) return found;
  }
  return std::nullopt;
}

/// A pattern without ranges for each combination of their numbers.
void expand_ranges(const std::string& pattern, std::vector<std::string>& into) {
  const auto range = find_range(pattern);
  if (!range) {
    into.push_back(pattern);
    return;
  }
  const std::uint64_t first = std::stoull(range->first);
  const std::uint64_t last = std::stoull(range->last);
  if (last < first)
    throw usage_error{pattern + ": the range from " + range->first + " to " + range->last +
                      " runs backwards; write its smaller number first"};
  if (last - first >= max_numbers || into.size() >= max_numbers)
    throw usage_error{pattern + ": a range may have " + std::to_string(max_numbers) +
                      " numbers at most"};
  const auto is_padded = [](const std::string& end) { return end.size() > 1 && end[0] == '0'; };
  const std::size_t digits = is_padded(range->first) || is_padded(range->last)
                                 ? std::max(range->first.size(), range->last.size())
                                 : 0;
  for (std::uint64_t number = first; number <= last; ++number) {
    std::string text = std::to_string(number);
    if (text.size() < digits) text.insert(0, digits - text.size(), '0');
    expand_ranges(range->before + text + range->behind, into);
  }
}

bool is_there(const std::string& path) {
  return detail::kind_of_entry(path) != detail::entry_kind::nothing;
}

}  // namespace

std::vector<std::string> expand_paths(const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) {
    if (pattern.find_first_of("*?[{") == std::string::npos) {
      paths.push_back(pattern);  // if it does not exist, opening it reports that
      continue;
    }
    std::vector<std::string> names{pattern};
    if (!is_there(pattern)) {
      names.clear();
      expand_ranges(pattern, names);
    }
    for (std::string& name : names) {
      const bool is_found = is_there(name);
      if (!is_found && name.find_first_of("*?[") != std::string::npos) {
        const auto files = detail::match_files(name);
        if (files.empty())
          throw dataset_error{{.path = name, .field = {}},
                              "no file or folder matches this pattern"};
        paths.insert(paths.end(), files.begin(), files.end());
      } else if (is_found || name == pattern) {
        paths.push_back(std::move(name));
      } else {
        throw dataset_error{{.path = name, .field = {}},
                            "no such file or folder, which " + pattern + " names"};
      }
    }
  }
  return paths;
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
