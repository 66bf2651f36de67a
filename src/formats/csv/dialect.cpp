#include "formats/csv/dialect.hpp"

#include <feedline/error.hpp>

#include "detail/printable.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::string_view common_separators = ",\t;|";
constexpr std::size_t max_csv_columns = std::size_t{1} << 20;

/// Counts separators outside of quotes.
std::size_t count_outside(std::string_view record, char separator, std::optional<char> quote) {
  std::size_t count = 0;
  bool is_quoted = false;
  for (const char each : record) {
    if (quote && each == *quote) is_quoted = !is_quoted;
    count += !is_quoted && each == separator ? 1 : 0;
  }
  return count;
}

char find_separator(const std::vector<std::string>& records, std::optional<char> quote) {
  char best = ',';
  std::size_t most = 0;
  for (const char each : common_separators) {
    const std::size_t count = count_outside(records.front(), each, quote);
    const bool is_even = std::ranges::all_of(records, [&](const std::string& record) {
      return count_outside(record, each, quote) == count;
    });
    if (!is_even || count <= most) continue;
    best = each;
    most = count;
  }
  return best;
}

using cell_rows = std::vector<std::vector<std::string>>;

bool is_number_cell(const std::string& cell) {
  return number_of_cell(cell, true).kind != value_kind::none;
}

/// Follows the rule of `csv_options::header`.
bool looks_like_header(const cell_rows& rows) {
  const auto is_name = [](const std::string& cell) {
    return !cell.empty() && !is_number_cell(cell);
  };
  if (std::ranges::all_of(rows.front(), is_name)) return true;
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    const auto is_number_below = [&](const auto& row) {
      return i < row.size() && is_number_cell(row[i]);
    };
    if (rows.size() > 1 && is_name(rows.front()[i]) &&
        std::all_of(rows.begin() + 1, rows.end(), is_number_below))
      return true;
  }
  return false;
}

std::vector<std::string> cells_of(const std::string& record, const csv_syntax& syntax) {
  csv_cells cells;
  cells.split(record, syntax);
  if (cells.all().size() > max_csv_columns)
    throw dataset_error{{},
                        "has " + std::to_string(cells.all().size()) + " cells, and " +
                            std::to_string(max_csv_columns) +
                            " are the most; write values of one kind as arrays (.npy)"};
  return {cells.all().begin(), cells.all().end()};
}

}  // namespace

std::vector<std::string> names_of_header(const std::string& record, const csv_syntax& syntax) {
  std::vector<std::string> names = cells_of(record, syntax);
  std::set<std::string_view> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) names[i] = std::to_string(i);
    if (!known.insert(names[i]).second)
      throw dataset_error{{},
                          "two columns are named '" + printable(names[i]) + "', the second is " +
                              std::to_string(i + 1) +
                              "; rename one, or give csv_options::header = false"};
  }
  return names;
}

csv_dialect find_dialect(const std::vector<std::string>& records, const csv_options& options) {
  csv_dialect found;
  found.syntax.quote = options.quote == '\0' ? std::nullopt : std::optional{options.quote};
  found.syntax.separator =
      options.separator != '\0' ? options.separator : find_separator(records, found.syntax.quote);
  cell_rows rows;
  if (!options.header)
    for (const std::string& each : records) rows.push_back(cells_of(each, found.syntax));
  found.has_header = options.header.value_or(!rows.empty() && looks_like_header(rows));
  if (found.has_header) {
    found.columns = names_of_header(records.front(), found.syntax);
    return found;
  }
  const std::size_t count = cells_of(records.front(), found.syntax).size();
  for (std::size_t i = 0; i < count; ++i) found.columns.push_back(std::to_string(i));
  return found;
}

}  // namespace feedline::detail
