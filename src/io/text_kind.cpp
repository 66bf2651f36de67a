#include "io/text_kind.hpp"

#include "detail/text.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {
namespace {

using head_bytes = std::span<const std::byte>;

/// How many bytes a character of UTF-8 takes that begins so; 0: none does.
std::size_t character_bytes(unsigned lead) {
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/// The text without a byte order mark and white space before it.
std::string_view text_of_head(head_bytes head) {
  std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return text.substr(std::min(begin, text.size()));
}

/// Whole lines, at most 20, without those that are empty.
std::vector<std::string_view> first_lines(head_bytes head) {
  std::vector<std::string_view> lines;
  std::string_view text = text_of_head(head);
  while (lines.size() < 20) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

bool contains_text(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// "0.5", "1", ".25e-1".
bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

bool is_yolo_line(std::string_view line) {
  std::size_t words = 0;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    const bool is_class = word.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_number(word) || (words == 0 && !is_class) ||
        (words != 0 && !word.starts_with("0") && !word.starts_with(".") && word[0] != '1'))
      return false;
    ++words;
  }
  return words == 5;
}

/// Whether the first records, two or more, have the same number of separators that are not quoted.
bool has_even_columns(std::string_view text, char separator) {
  constexpr std::size_t max_records = 20;
  std::size_t records = 0;
  std::size_t columns = 0;
  std::size_t count = 0;
  std::size_t begin = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size() && records < max_records; ++i) {
    if (text[i] == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    count += text[i] == separator ? 1 : 0;
    if (text[i] != '\n') continue;
    const bool is_blank = i - begin <= (i > begin && text[i - 1] == '\r' ? 1U : 0U);
    begin = i + 1;
    if (is_blank) continue;
    if (records++ == 0) columns = count;
    if (count == 0 || count != columns) return false;
    count = 0;
  }
  return records >= 2;
}

}  // namespace

bool is_text(head_bytes head) noexcept {
  constexpr std::size_t least_bytes = 24;
  if (head.size() < least_bytes) return false;
  for (std::size_t at = 0; at < head.size();) {
    const std::size_t count = character_bytes(std::to_integer<unsigned>(head[at]));
    if (count == 0) return false;
    const auto rest = head.subspan(at + 1).first(std::min(count, head.size() - at) - 1);
    if (!std::ranges::all_of(rest,
                             [](std::byte b) { return (b & std::byte{0xc0}) == std::byte{0x80}; }))
      return false;
    at += count;
  }
  return true;
}

bool is_html(head_bytes head) noexcept try {
  const std::string begin = in_lower_case(text_of_head(head).substr(0, 16));
  return begin.starts_with("<!doctype html") || begin.starts_with("<html");
} catch (...) {
  return false;
}

bool is_json(head_bytes head) noexcept {
  const std::string_view text = text_of_head(head);
  return is_text(head) && (text.starts_with('{') || text.starts_with('['));
}

bool is_json_lines(head_bytes head) noexcept try {
  if (!is_text(head)) return false;
  const std::vector<std::string_view> lines = first_lines(head);
  return !lines.empty() && std::ranges::all_of(lines, [](std::string_view line) {
    return line.starts_with('{') && line.ends_with('}');
  });
} catch (...) {
  return false;
}

bool is_coco(head_bytes head) noexcept {
  const std::string_view text = text_of_head(head);
  return is_json(head) && text.starts_with('{') && contains_text(text, "\"images\"") &&
         (contains_text(text, "\"file_name\"") || contains_text(text, "\"annotations\""));
}

bool is_voc(head_bytes head) noexcept {
  const std::string_view text = text_of_head(head);
  return is_text(head) && text.starts_with('<') && contains_text(text, "<annotation>");
}

bool is_yolo(head_bytes head) noexcept try {
  if (!is_text(head)) return false;
  const std::vector<std::string_view> lines = first_lines(head);
  return !lines.empty() && std::ranges::all_of(lines, is_yolo_line);
} catch (...) {
  return false;
}

bool is_table(head_bytes head) noexcept {
  if (!is_text(head)) return false;
  const std::string_view text = text_of_head(head);
  return std::ranges::any_of(std::string_view{",\t;|"},
                             [text](char separator) { return has_even_columns(text, separator); });
}

}  // namespace feedline::detail
