#include "formats/parquet/matched_columns.hpp"

#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/printable.hpp"

#include <algorithm>

namespace feedline::detail {
namespace {

std::string column_text(const parquet_column& of) {
  return (of.as.is_ragged ? "a run of " : "") + to_string(of.as.spec) +
         (of.counted.empty() ? "" : " (" + of.counted + ")");
}

}  // namespace

std::vector<std::size_t> choose_columns(const parquet_schema& schema, const std::string& path,
                                        const std::vector<std::string>& names) {
  std::vector<field> specs;
  for (const parquet_column& each : schema.columns) specs.push_back(each.as.spec);
  for (const std::string& name : names)
    for (const left_out_field& each : schema.left_out)
      if (each.name == name)
        throw usage_error{"open_parquet: " + printable(path) + ": column '" + printable(name) +
                          "' cannot be a field: it " + each.reason};
  if (!names.empty()) return places_of("open_parquet", specs, names);
  std::vector<std::size_t> all(specs.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

std::vector<int> match_columns(std::vector<parquet_column>& columns, const parquet_schema& schema,
                               const std::string& path, const std::string& first_path, bool all) {
  std::vector<int> leaves;
  const auto error = [&](const std::string& name, const std::string& message) {
    return dataset_error{{.path = path, .field = name}, message};
  };
  for (parquet_column& each : columns) {
    const std::string& name = each.as.spec.name;
    const auto own =
        std::ranges::find(schema.columns, name, [](const auto& one) { return one.as.spec.name; });
    if (own == schema.columns.end())
      throw error(name, "the file has no such column, which " + printable(first_path) + " has as " +
                            column_text(each));
    const bool are_other_classes = own->as.spec.classes != each.as.spec.classes;
    if (!each.suits(*own))
      throw error(name, "is " + column_text(*own) + " here, but " + column_text(each) + " in " +
                            (are_other_classes ? "a file before it" : printable(first_path)));
    if (each.as.spec.classes.empty()) each.as.spec.classes = own->as.spec.classes;
    leaves.push_back(own->leaf);
  }
  if (!all || schema.columns.size() == columns.size()) return leaves;
  for (const parquet_column& own : schema.columns)
    if (std::ranges::find(columns, own.as.spec.name,
                          [](const auto& one) { return one.as.spec.name; }) == columns.end())
      throw error(own.as.spec.name, "the file has this column, and " + printable(first_path) +
                                        " does not; name the columns to open");
  return leaves;
}

}  // namespace feedline::detail
