#ifdef FEEDLINE_HAS_JSON

#include "formats/mds/set.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/mds.hpp>

#include "detail/printable.hpp"
#include "formats/columns/index_file.hpp"
#include "formats/columns/index_json.hpp"
#include "formats/mds/encodings.hpp"
#include "io/file_system.hpp"

#include <set>
#include <utility>

namespace feedline::detail {
namespace {

record_layout layout_of(const index_object& shard) {
  const std::vector<std::string> names = shard.texts("column_names");
  const std::vector<std::string> encodings = shard.texts("column_encodings");
  const nlohmann::json& sizes = shard.list("column_sizes");
  if (names.size() != encodings.size() || names.size() != sizes.size() || names.empty())
    shard.refuse("has " + std::to_string(names.size()) + " column_names, " +
                 std::to_string(encodings.size()) + " column_encodings and " +
                 std::to_string(sizes.size()) + " column_sizes, but all count its columns");
  record_layout layout;
  std::set<std::string> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    stored_column column = mds_column(names[i], encodings[i]);
    if (!known.insert(names[i]).second)
      shard.refuse("has two columns named '" + printable(names[i]) + '\'');
    const bool has_size = sizes[i].is_number_unsigned();
    if (!has_size && !sizes[i].is_null())
      shard.refuse("has \"column_sizes\" that are no whole numbers");
    const std::uint64_t stated = has_size ? sizes[i].get<std::uint64_t>() : 0;
    if (column.kind == column_kind::fixed && column.left_out.empty() &&
        stated != column.stored_bytes)
      shard.refuse("gives column '" + printable(names[i]) + "' " + std::to_string(stated) +
                   " bytes, but values of '" + printable(encodings[i]) + "' have " +
                   std::to_string(column.stored_bytes));
    column.stored_bytes = stated;
    layout.columns.push_back(std::move(column));
  }
  return layout;
}

bool are_alike(const record_layout& a, const record_layout& b) {
  return std::ranges::equal(a.columns, b.columns, [](const auto& one, const auto& other) {
    return one.name == other.name && one.coding == other.coding &&
           one.stored_bytes == other.stored_bytes;
  });
}

described_shard shard_of(const index_object& shard, const std::string& path) {
  const index_object raw = shard.object("raw_data");
  described_shard made{.path = path_beside(path, raw.text("basename")),
                       .samples = shard.whole("samples"),
                       .bytes = raw.whole("bytes")};
  if (shard.find("zip_data") == nullptr) return made;
  const bool is_here = path.find("://") == std::string::npos;
  if (is_here && kind_of_entry(made.path) == entry_kind::file) return made;
  const index_object zip = shard.object("zip_data");
  made.path = path_beside(path, zip.text("basename"));
  try {
    made.codec = find_shard_codec(shard.text_or_empty("compression"));
  } catch (const dataset_error& fault) {
    throw dataset_error{{.path = path, .field = {}}, fault.message()};
  }
  made.raw_bytes = std::exchange(made.bytes, zip.whole("bytes"));
  return made;
}

}  // namespace

mds_index read_mds_index(const std::string& text, const std::string& path) {
  const nlohmann::json document = parse_index(text, path);
  const index_object index{document, path, "the index"};
  if (const auto version = index.whole("version"); version != 2)
    index.refuse("is of version " + std::to_string(version) + " of MDS, and feedline reads 2");
  mds_index found;
  std::size_t number = 0;
  for (const nlohmann::json& each : index.list("shards")) {
    const index_object shard{each, path, "shard " + std::to_string(number++)};
    if (const std::string format = shard.text("format"); format != "mds")
      shard.refuse("is of the format '" + printable(format) +
                   "', and feedline reads 'mds'; read it with open_records or convert it");
    record_layout layout = layout_of(shard);
    if (found.layout.columns.empty())
      found.layout = std::move(layout);
    else if (!are_alike(found.layout, layout))
      shard.refuse("has other columns than the first one");
    found.shards.push_back(shard_of(shard, path));
  }
  return found;
}

columned_records open_mds_records(const std::vector<std::string>& folders,
                                  const shard_options& options) {
  if (folders.empty()) throw usage_error{"open_mds: there is no folder"};
  mds_index all;
  std::uint64_t samples = 0;
  std::string first;
  for (const std::string& folder : expand_paths(folders)) {
    const std::string path = index_path(folder);
    mds_index one = read_mds_index(read_index_text(path), path);
    if (one.shards.empty()) continue;
    if (first.empty()) first = path;
    if (all.layout.columns.empty())
      all.layout = std::move(one.layout);
    else if (!are_alike(all.layout, one.layout))
      throw dataset_error{{.path = path, .field = {}},
                          "has other columns than " + first +
                              "; sets that are opened together have the same columns"};
    for (described_shard& each : one.shards) {
      samples += each.samples;
      all.shards.push_back(std::move(each));
    }
  }
  if (samples == 0)
    throw dataset_error{{.path = index_path(folders.front()), .field = {}}, "holds no record"};
  return {make_shard_values(std::move(all.shards), options.max_host_cache_bytes),
          std::move(all.layout)};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_mds(const std::vector<std::string>& folders, const shard_options& options) {
  return detail::make_columns_dataset("open_mds", detail::open_mds_records(folders, options),
                                      options);
}

ragged_dataset_ptr open_mds_ragged(const std::vector<std::string>& folders,
                                   const std::string& field, const shard_options& options) {
  return detail::make_column_ragged("open_mds", detail::open_mds_records(folders, options), field,
                                    options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

#endif
