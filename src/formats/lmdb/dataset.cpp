#include "formats/columns/dataset.hpp"

#include <feedline/dataset/zip.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/lmdb.hpp>

#include "detail/log.hpp"
#include "detail/text.hpp"
#include "formats/columns/pickle.hpp"
#include "formats/lmdb/records.hpp"
#include "ragged/record_columns.hpp"

#include <algorithm>
#include <utility>

namespace feedline::detail {
namespace {

/// The records of a group, as records of one column.
columned_records columned(const lmdb_group& of, const lmdb_options& options) {
  columned_records made{of.records, {}};
  made.layout.has_sizes = false;
  made.layout.columns.push_back({.name = of.name, .coding = "bytes"});
  std::vector<std::byte> memory;
  const auto first = of.records->read(0, [&](std::size_t bytes) { return room_in(memory, bytes); });
  if (!options.values.columns.contains(of.name) && is_pickled(first))
    of.records->refuse(
        {{.path = {}, .field = of.name},
         "is a pickle, and feedline never unpickles; write the values as bytes that say what they "
         "are, or decode them (shard_options::record, or a decoder of the column)"},
        0);
  return made;
}

/// The options that concern one group. The names of columns are checked for all groups together.
shard_options options_for(const lmdb_group& of, const shard_options& all) {
  shard_options some = all;
  some.fields = {};
  std::erase_if(some.columns, [&](const auto& each) { return each.first != of.name; });
  std::erase_if(some.pad, [&](const auto& each) { return each.first != of.name; });
  return some;
}

/// The groups that fields name, in their order; all if there are no names.
std::vector<const lmdb_group*> chosen_groups(const lmdb_records& of,
                                             const std::vector<std::string>& fields) {
  std::vector<const lmdb_group*> chosen;
  for (const std::string& name : fields)
    for (const lmdb_group& each : of.groups)
      if (each.name == name) chosen.push_back(&each);
  if (fields.empty())
    for (const lmdb_group& each : of.groups) chosen.push_back(&each);
  return chosen;
}

void require_groups(const lmdb_records& of, const shard_options& options) {
  std::vector<std::string> names;
  for (const lmdb_group& each : of.groups) names.push_back(each.name);
  const auto require = [&](const std::string& name, const char* where) {
    if (std::ranges::count(names, name) == 0)
      throw usage_error{"open_lmdb: shard_options::" + std::string{where} + " names '" + name +
                        "', which is no field; there are " + list_names(names)};
  };
  for (const auto& [name, how] : options.columns) require(name, "columns");
  for (const auto& [name, how] : options.pad) require(name, "pad");
  for (const std::string& name : options.fields) require(name, "fields");
}

}  // namespace

dataset_ptr make_lmdb_dataset(const lmdb_records& of, const lmdb_options& options) {
  const shard_options& values = options.values;
  if (!of.left_out.empty())
    log()->warn("open_lmdb: keys that describe the set are left out: {}", list_names(of.left_out));
  if (values.record) {
    if (!values.columns.empty() || values.image)
      throw usage_error{
          "open_lmdb: shard_options::record decodes whole values, so leave out columns and image"};
    if (of.groups.size() > 1)
      throw usage_error{
          "open_lmdb: shard_options::record decodes values of one name, but the keys have " +
          std::to_string(of.groups.size()) + " names"};
    return make_record_dataset("open_lmdb", of.groups.front().records, values.record,
                               {.fields = values.fields, .pad = values.pad});
  }
  require_groups(of, values);
  std::vector<dataset_ptr> parts;
  for (const lmdb_group* const each : chosen_groups(of, values.fields))
    parts.push_back(
        make_columns_dataset("open_lmdb", columned(*each, options), options_for(*each, values)));
  return parts.size() == 1 ? parts.front() : zip(std::move(parts));
}

std::vector<listed_field> list_lmdb_records(const lmdb_records& of, const lmdb_options& options) {
  std::vector<listed_field> listed;
  for (const lmdb_group& each : of.groups)
    for (listed_field& found :
         list_columns("open_lmdb", columned(each, options), options_for(each, options.values)))
      listed.push_back(std::move(found));
  for (const std::string& key : of.left_out)
    listed.push_back({.name = "key '" + key + "'", .left_out = "describes the set"});
  return listed;
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_lmdb(const std::vector<std::string>& paths, const lmdb_options& options) {
  return detail::make_lmdb_dataset(
      detail::open_lmdb_records(detail::open_lmdb_files(paths), options.database), options);
}

ragged_dataset_ptr open_lmdb_ragged(const std::vector<std::string>& paths, const std::string& field,
                                    const lmdb_options& options) {
  const auto opened = detail::open_lmdb_records(detail::open_lmdb_files(paths), options.database);
  if (options.values.record)
    return detail::make_ragged_field(opened.groups.front().records, options.values.record, field);
  for (const detail::lmdb_group& each : opened.groups)
    if (each.name == field)
      return detail::make_column_ragged("open_lmdb", detail::columned(each, options), field,
                                        detail::options_for(each, options.values));
  throw usage_error{"open_lmdb: there is no field '" + field + "'"};
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
