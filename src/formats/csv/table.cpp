#include "formats/csv/table.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "formats/csv/dialect.hpp"
#include "formats/csv/parser.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <fnmatch.h>

namespace feedline::detail {
namespace {

constexpr std::size_t dialect_records = 21;

std::string record_text(const line_values::indexed_file& in, std::size_t record) {
  const byte_range at = in.index.record(record);
  std::string text(static_cast<std::size_t>(at.end - at.begin), '\0');
  in.file->read(at.begin, std::as_writable_bytes(std::span{text}));
  return text;
}

/// Names the file and the line in errors of a header.
template <class Call>
auto in_header(const line_values::indexed_file& in, const Call& call) {
  try {
    return call();
  } catch (const dataset_error& fault) {
    throw dataset_error{{.path = in.file->name(), .field = fault.field()},
                        "line " + std::to_string(in.index.line_of(0)) + ": " + fault.message()};
  }
}

csv_dialect dialect_of(const line_values::indexed_file& in, const csv_options& options) {
  std::vector<std::string> records;
  for (std::size_t i = 0; i < std::min(dialect_records, in.index.ends.size()); ++i)
    records.push_back(record_text(in, i));
  return in_header(in, [&] { return find_dialect(records, options); });
}

void require_same_columns(const line_values::indexed_file& in, const csv_dialect& of,
                          const std::string& first) {
  const auto names = in_header(in, [&] { return names_of_header(record_text(in, 0), of.syntax); });
  if (names != of.columns)
    throw dataset_error{{.path = in.file->name(), .field = {}},
                        "has the columns " + list_names(names) + ", but " + printable(first) +
                            " has " + list_names(of.columns) +
                            "; files that are opened together have the same columns"};
}

/// Whether a name matches a pattern, in which only `*` and `?` are special.
bool is_column_named(const std::string& name, const std::string& pattern) {
  std::string plain;
  for (const char each : pattern) {
    if (each == '[' || each == '\\') plain += '\\';
    plain += each;
  }
  return ::fnmatch(plain.c_str(), name.c_str(), 0) == 0;
}

column_groups groups_of(const std::vector<std::string>& columns, const csv_options& options) {
  column_groups groups;
  if (options.merge.empty()) return groups;
  groups.of_column.resize(columns.size());
  for (const auto& [name, patterns] : options.merge) {
    const std::string begin = "open_csv: csv_options::merge['" + printable(name) + "'] ";
    std::size_t count = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool is_in = std::ranges::any_of(patterns, [&](const std::string& pattern) {
        return is_column_named(columns[i], pattern);
      });
      if (!is_in) continue;
      if (groups.of_column[i])
        throw usage_error{begin + "has the column '" + printable(columns[i]) + "', and so has '" +
                          printable(groups.names[*groups.of_column[i]]) + "'"};
      groups.of_column[i] = groups.names.size();
      ++count;
    }
    if (count == 0)
      throw usage_error{begin + "matches no column; there are " + list_names(columns)};
    groups.names.push_back(name);
  }
  return groups;
}

void require_sound_options(const csv_options& options) {
  const char separator = options.separator;
  if (separator == '\n' || separator == '\r' || options.quote == '\n' || options.quote == '\r' ||
      (separator != '\0' && separator == options.quote))
    throw usage_error{
        "open_csv: csv_options::separator and quote are two different bytes, and no line's end"};
}

}  // namespace

opened_table open_csv_table(const std::vector<byte_file_ptr>& stored, const csv_options& options) {
  require_sound_options(options);
  const auto [files, blocks] = unpack_text_files(stored, options.table.max_host_cache_bytes);
  std::vector<line_index> indexes =
      index_lines(files, options.quote == '\0' ? std::nullopt : std::optional{options.quote},
                  options.table.index_folder, "open_csv");
  std::vector<line_values::indexed_file> indexed;
  for (std::size_t i = 0; i < files.size(); ++i)
    indexed.push_back({files[i], std::move(indexes[i])});
  const auto first =
      std::ranges::find_if(indexed, [](const auto& each) { return !each.index.ends.empty(); });
  if (first == indexed.end())
    throw dataset_error{{.path = files.front()->name(), .field = {}}, "is empty"};
  const csv_dialect dialect = dialect_of(*first, options);
  if (dialect.has_header)
    for (line_values::indexed_file& each : indexed) {
      if (each.index.ends.empty()) continue;
      each.has_header = true;
      require_same_columns(each, dialect, first->file->name());
    }
  opened_table opened{std::make_shared<const line_values>(std::move(indexed), blocks), nullptr, {}};
  const column_groups groups = groups_of(dialect.columns, options);
  const auto looks_by =
      make_csv_survey_parser(dialect.columns.size(), dialect.syntax, options.missing);
  const table_survey survey =
      survey_table(*opened.records, *looks_by, options.table.looked_at, true);
  opened.plan =
      plan_table("open_csv", *opened.records, dialect.columns, survey, options.table, groups);
  opened.by = make_csv_parser(opened.plan, dialect.syntax, options.missing);
  return opened;
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_csv(const std::vector<std::string>& files, const csv_options& options) {
  return detail::make_table_dataset(
      "open_csv", detail::open_csv_table(detail::open_text_files("open_csv", files), options),
      options.table);
}

ragged_dataset_ptr open_csv_ragged(const std::vector<std::string>& files, const std::string& field,
                                   const csv_options& options) {
  csv_options one = options;
  one.table.fields = {field};
  return detail::make_table_ragged(
      detail::open_csv_table(detail::open_text_files("open_csv", files), one), field);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
