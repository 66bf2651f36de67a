#include "formats/columns/dataset.hpp"
#include "formats/lmdb/records.hpp"
#include "formats/lmdb/tree.hpp"
#include "formats/open/format_entry.hpp"
#include "io/file_system.hpp"

namespace feedline::detail {
namespace {

lmdb_options lmdb_options_of(const open_options& options) {
  return {.values = shard_options_of(options), .database = {}};
}

bool is_environment(const std::string& folder) {
  const std::string path = folder + (folder.ends_with('/') ? "data.mdb" : "/data.mdb");
  return kind_of_entry(path) == entry_kind::file;
}

std::vector<listed_field> list_lmdb(const std::string& path, const open_options& options) {
  const lmdb_options how = lmdb_options_of(options);
  return list_lmdb_records(open_lmdb_records(open_lmdb_files({path}), how.database), how);
}

}  // namespace

format_entry lmdb_format() {
  return {.name = "lmdb",
          .known_as = "LMDB environments",
          .is = [](const probed_file& file) { return is_lmdb_head(file.head); },
          .open =
              [](const std::vector<std::string>& paths, const open_options& options) {
                return open_lmdb(paths, lmdb_options_of(options));
              },
          .list = list_lmdb,
          .is_folder = is_environment,
          .takes_pad = true};
}

}  // namespace feedline::detail
