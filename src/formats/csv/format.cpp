#include "formats/csv/table.hpp"
#include "formats/open/format_entry.hpp"
#include "io/file_kind.hpp"
#include "io/file_system.hpp"
#include "io/text_kind.hpp"

namespace feedline::detail {
namespace {

csv_options csv_options_of(const open_options& options) {
  return {.table = table_options_of(options)};
}

/// Other texts may look like tables, too.
bool is_csv(const probed_file& file) {
  const file_kind* const kind = find_file_kind(file.content);
  return kind != nullptr && kind->name.starts_with("a table as text") && is_table(file.content);
}

std::vector<listed_field> list_csv(const std::string& file, const open_options& options) {
  csv_options all = csv_options_of(options);
  all.table.fields.clear();
  return list_table(open_csv_table({open_file(file)}, all));
}

}  // namespace

format_entry csv_format() {
  return {
      .name = "csv",
      .known_as = "tables as text (CSV, TSV)",
      .is = is_csv,
      .open = [](const std::vector<std::string>& paths,
                 const open_options& options) { return open_csv(paths, csv_options_of(options)); },
      .list = list_csv,
      .takes_pad = true,
      .takes_columns = true};
}

}  // namespace feedline::detail
