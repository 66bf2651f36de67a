#include "formats/csv/cells.hpp"

#include <feedline/error.hpp>

#include <system_error>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace feedline::detail {
namespace {

using text = std::string_view;

dataset_error cell_fault(std::size_t cell, const std::string& why) {
  return {{}, "column " + std::to_string(cell + 1) + ": " + why};
}

text without_line_ends(text record) {
  while (!record.empty() && (record.front() == '\n' || record.front() == '\r'))
    record.remove_prefix(1);
  if (record.ends_with('\n')) record.remove_suffix(1);
  if (record.ends_with('\r')) record.remove_suffix(1);
  return record;
}

/// The content of a quoted cell, and what is after it. Doubled quotes are left as they are.
struct quoted_cell {
  text content;
  text rest;
  bool has_quotes = false;
};

quoted_cell take_quoted(text from, char quote, std::size_t cell) {
  quoted_cell found{{}, from.substr(1), false};
  std::size_t at = 1;
  for (;;) {
    at = from.find(quote, at);
    if (at == text::npos)
      throw cell_fault(cell,
                       "the quote is not closed; close it, or give csv_options::quote = 0 if "
                       "nothing is quoted");
    if (at + 1 == from.size() || from[at + 1] != quote) break;
    found.has_quotes = true;
    at += 2;
  }
  found.content = from.substr(1, at - 1);
  found.rest = from.substr(at + 1);
  return found;
}

bool is_cell_word(text cell, text lower) {
  return cell.size() == lower.size() &&
         std::equal(cell.begin(), cell.end(), lower.begin(), [](char a, char b) {
           return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
         });
}

text trimmed_cell(text cell) {
  const std::size_t begin = cell.find_first_not_of(" \t");
  if (begin == text::npos) return {};
  return cell.substr(begin, cell.find_last_not_of(" \t") + 1 - begin);
}

bool is_cell_digit(char c) {
  return c >= '0' && c <= '9';
}

bool has_negative_exponent(text number) {
  const std::size_t sign = number.find('-', 1);
  return sign != text::npos && (number[sign - 1] == 'e' || number[sign - 1] == 'E');
}

template <class T>
bool parse_whole_cell(text cell, T& value) {
  const char* const end = cell.data() + cell.size();
  const auto [stop, fault] = std::from_chars(cell.data(), end, value);
  return fault == std::errc{} && stop == end;
}

}  // namespace

void csv_cells::split(text record, const csv_syntax& syntax) {
  cells_.clear();
  unquoted_.clear();
  record = without_line_ends(record);
  const bool has_quotes = syntax.quote && record.find(*syntax.quote) != text::npos;
  const bool has_returns = syntax.quote && record.find('\r') != text::npos;
  unquoted_.reserve(has_quotes ? record.size() : 0);  // so that no text in it moves
  for (text rest = record;;) {
    const std::size_t cell = cells_.size();
    if (has_quotes && !rest.empty() && rest.front() == *syntax.quote) {
      const quoted_cell found = take_quoted(rest, *syntax.quote, cell);
      text content = found.content;
      if (found.has_quotes) {
        const std::size_t begin = unquoted_.size();
        for (std::size_t i = 0; i < content.size(); ++i) {
          unquoted_ += content[i];
          if (content[i] == *syntax.quote) ++i;  // it is doubled
        }
        content = text{unquoted_}.substr(begin);
      }
      cells_.push_back(content);
      rest = found.rest;
      if (rest.empty()) return;
      if (rest.front() != syntax.separator)
        throw cell_fault(cell, "has text after the closing quote; double quotes within a cell");
      rest.remove_prefix(1);
      continue;
    }
    const std::size_t end = rest.find(syntax.separator);
    const text content = rest.substr(0, end);
    if (has_returns && content.find('\r') != text::npos)
      throw cell_fault(cell,
                       "has a carriage return, but is not quoted; if lines end with it alone, "
                       "convert the file (tr '\\r' '\\n'), else quote the cell");
    if (has_quotes && content.find(*syntax.quote) != text::npos)
      throw cell_fault(cell,
                       "has a quote, but is not quoted; quote the cell and double the quote, or "
                       "give csv_options::quote = 0 if nothing is quoted");
    cells_.push_back(content);
    if (end == text::npos) return;
    rest.remove_prefix(end + 1);
  }
}

csv_number number_of_cell(text cell, bool takes_zeros) {
  cell = trimmed_cell(cell);
  if (is_cell_word(cell, "true")) return {value_kind::boolean, std::int64_t{1}};
  if (is_cell_word(cell, "false")) return {value_kind::boolean, std::int64_t{0}};
  if (cell.starts_with('+')) {
    cell.remove_prefix(1);
    if (cell.starts_with('-')) return {};
  }
  if (cell.empty()) return {};
  const text digits = cell.substr(cell.front() == '-' ? 1 : 0);
  if (!takes_zeros && digits.size() > 1 && digits[0] == '0' && is_cell_digit(digits[1])) return {};
  std::int64_t whole = 0;
  if (parse_whole_cell(cell, whole)) return {value_kind::whole, whole};
  std::uint64_t large = 0;
  if (parse_whole_cell(cell, large)) return {value_kind::whole, large};
  const bool is_whole = !digits.empty() && std::ranges::all_of(digits, is_cell_digit);
  double real = 0;
  if (is_whole) return {};  // more than 64 bits stay a text
  const char* const end = cell.data() + cell.size();
  const auto [stop, fault] = std::from_chars(cell.data(), end, real);
  if (stop != end) return {};
  if (fault == std::errc{}) return {value_kind::real, real};
  // Less than the least double is 0; more than the largest stays a text.
  if (fault != std::errc::result_out_of_range || !has_negative_exponent(cell)) return {};
  return {value_kind::real, cell.front() == '-' ? -0.0 : 0.0};
}

}  // namespace feedline::detail
