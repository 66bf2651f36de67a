#include "formats/table/open_table.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>

#include "detail/text.hpp"
#include "formats/table/label_names.hpp"
#include "formats/table/table_decoder.hpp"
#include "io/file_system.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

constexpr std::size_t max_table_fields = 4096;

/// Makes the plan of a table.
class table_planner {
 public:
  table_planner(const line_values& records, const table_survey& survey,
                const table_options& options, table_plan& plan)
      : records_{records}, survey_{survey}, options_{options}, plan_{plan} {}

  void add_column(std::size_t column) {
    const std::string& name = plan_.columns[column];
    table_field made;
    if (accept(name, seen(column), made))
      plan_.targets[column] = column_target{plan_.fields.size() - 1, 0};
  }

  void add_group(const std::string& name, const std::vector<std::size_t>& columns) {
    seen_table_column all;
    for (const std::size_t column : columns) join(all, seen(column), plan_.columns[column]);
    table_field made;
    if (!accept(name, all, made)) return;
    table_field& of = plan_.fields.back();
    of.as.spec.shape = {columns.size()};
    for (std::size_t i = 0; i < columns.size(); ++i)
      plan_.targets[columns[i]] = column_target{plan_.fields.size() - 1, i};
  }

 private:
  [[nodiscard]] const seen_table_column& seen(std::size_t column) const {
    static const seen_table_column nothing;
    return column < survey_.columns.size() ? survey_.columns[column] : nothing;
  }

  void join(seen_table_column& all, const seen_table_column& one, const std::string& name) const {
    using enum value_kind;
    if (all.records == 0) all.first = one.first;
    all.records += one.records;
    all.is_large |= one.is_large;
    if (!all.lacking) all.lacking = one.lacking;
    if (one.kind == none || one.kind == all.kind) return;
    const auto is_number = [](value_kind kind) { return kind == whole || kind == real; };
    if (one.kind == text)
      all.trouble = "is merged of columns, but '" + printable(name) + "' has texts";
    else if (all.kind == none)
      all.kind = one.kind;
    else if (is_number(all.kind) && is_number(one.kind))
      all.kind = real;
    else
      all.trouble = "is merged of columns that are numbers, and true or false";
  }

  /// @return Whether the column is a field, which is added to the plan.
  bool accept(const std::string& name, const seen_table_column& of, table_field& made) {
    const auto given = options_.columns.find(name);
    const bool is_given = given != options_.columns.end();
    std::string reason =
        choose_field(name, of, is_given ? &given->second : nullptr, records_, survey_, made);
    if (reason.empty()) {
      plan_.fields.push_back(std::move(made));
      return true;
    }
    if (is_given) throw usage_error{"columns['" + printable(name) + "']: the column " + reason};
    plan_.left_out.push_back({name, std::move(reason)});
    return false;
  }

  const line_values& records_;
  const table_survey& survey_;
  const table_options& options_;
  table_plan& plan_;
};

void require_columns(std::string_view who, const table_options& options,
                     const std::set<std::string>& known, std::size_t looked_at) {
  for (const auto& [name, how] : options.columns)
    if (!known.contains(name))
      throw usage_error{std::string{who} + ": table_options::columns names '" + printable(name) +
                        "', which none of the " + std::to_string(looked_at) +
                        " records that were looked at has; they have " +
                        list_names({known.begin(), known.end()})};
}

void require_usable(std::string_view who, const line_values& records, const table_plan& plan) {
  const auto refuse = [&](const std::string& why) {
    throw dataset_error{{.path = records.first_file(), .field = {}}, why};
  };
  if (plan.fields.size() > max_table_fields)
    refuse("has " + std::to_string(plan.columns.size()) + " columns, and a dataset at most " +
           std::to_string(max_table_fields) +
           " fields; choose some (fields), or write columns of one kind as one list" +
           (who == "open_csv" ? ", or merge them to one field (csv_options::merge)" : ""));
  if (!plan.fields.empty()) return;
  refuse("has no column that can be a field" + reasons_of(plan.left_out));
}

}  // namespace

table_plan plan_table(std::string_view who, const line_values& records,
                      std::vector<std::string> names, const table_survey& survey,
                      const table_options& options, const column_groups& groups) {
  table_plan plan;
  plan.columns = std::move(names);
  plan.targets.resize(plan.columns.size());
  const auto group_of = [&](std::size_t column) {
    return groups.of_column.empty() ? std::nullopt : groups.of_column[column];
  };
  std::vector<std::vector<std::size_t>> grouped(groups.names.size());
  std::set<std::string> known{groups.names.begin(), groups.names.end()};
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (const auto group = group_of(i))
      grouped[*group].push_back(i);
    else if (!known.insert(plan.columns[i]).second)
      throw usage_error{std::string{who} + ": columns are merged to a field '" +
                        printable(plan.columns[i]) + "', which is a column, too"};
  }
  require_columns(who, options, known, survey.looked_at);
  // Columns that are not wanted need not be fields.
  const auto is_wanted = [&](const std::string& name) {
    return options.fields.empty() || std::ranges::count(options.fields, name) != 0;
  };
  table_planner planner{records, survey, options, plan};
  std::vector<bool> is_added(grouped.size());
  for (std::size_t i = 0; i < plan.columns.size(); ++i) {
    if (plan.fields.size() > max_table_fields) break;  // refused below
    const auto group = group_of(i);
    if (!group) {
      if (is_wanted(plan.columns[i])) planner.add_column(i);
    } else if (!is_added[*group] && is_wanted(groups.names[*group])) {
      is_added[*group] = true;
      planner.add_group(groups.names[*group], grouped[*group]);
    }
  }
  if (!options.fields.empty()) report_left_out(who, "columns", plan.left_out, options.fields);
  for (const std::string& name : options.fields)
    if (!known.contains(name))
      throw usage_error{std::string{who} + ": there is no column '" + printable(name) +
                        "' in the records that were looked at; they have " +
                        list_names({known.begin(), known.end()})};
  require_usable(who, records, plan);
  return plan;
}

dataset_ptr make_table_dataset(std::string_view who, opened_table of,
                               const table_options& options) {
  report_left_out(std::string{who} + ": " + printable(of.records->first_file()), "columns",
                  of.plan.left_out, options.fields);
  name_classes(of.plan, *of.records, *of.by);
  const auto by = make_table_decoder(of.by, std::move(of.plan));
  return make_record_dataset(who, of.records, by, {.fields = options.fields, .pad = options.pad});
}

ragged_dataset_ptr make_table_ragged(opened_table of, const std::string& field) {
  name_classes(of.plan, *of.records, *of.by);
  return make_ragged_field(of.records, make_table_decoder(of.by, std::move(of.plan)), field);
}

std::vector<listed_field> list_table(opened_table of) {
  name_classes(of.plan, *of.records, *of.by);
  return list_described(of.records->size(), of.plan.fields, of.plan.left_out);
}

std::vector<byte_file_ptr> open_text_files(std::string_view who,
                                           const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw usage_error{std::string{who} + ": there is no file"};
  std::vector<byte_file_ptr> files;
  for (const std::string& path : expand_paths(patterns)) files.push_back(open_file(path));
  return files;
}

table_options table_options_of(const open_options& options) {
  return {.fields = options.fields, .columns = options.columns, .pad = options.pad};
}

}  // namespace feedline::detail
