#include <feedline/formats/mds.hpp>

#include "formats/columns/index_file.hpp"
#include "formats/mds/set.hpp"
#include "formats/open/format_entry.hpp"

#include <string_view>

namespace feedline::detail {
namespace {

bool is_index(const probed_file& file) {
  const std::string_view text{reinterpret_cast<const char*>(file.head.data()), file.head.size()};
  return text.find("\"shards\"") != text.npos && text.find("\"column_encodings\"") != text.npos;
}

bool is_mds_folder(const std::string& path) {
  return folder_has_index(path, "\"shards\"");
}

std::vector<listed_field> list_mds(const std::string& folder, const open_options& options) {
#ifdef FEEDLINE_HAS_JSON
  const shard_options how = shard_options_of(options);
  return list_columns("open_mds", open_mds_records({folder}, how), how);
#else
  (void)options;
  refuse_without_json(folder);
#endif
}

}  // namespace

format_entry mds_format() {
  return {.name = "mds",
          .known_as = "folders of MosaicML's streaming (MDS)",
          .is = is_index,
          .open =
              [](const std::vector<std::string>& folders, const open_options& options) {
                return open_mds(folders, shard_options_of(options));
              },
          .list = list_mds,
          .is_folder = is_mds_folder,
          .takes_pad = true};
}

}  // namespace feedline::detail

#ifndef FEEDLINE_HAS_JSON
namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_mds(const std::vector<std::string>& folders, const shard_options&) {
  detail::refuse_without_json(folders.empty() ? "" : folders.front());
}

ragged_dataset_ptr open_mds_ragged(const std::vector<std::string>& folders, const std::string&,
                                   const shard_options&) {
  detail::refuse_without_json(folders.empty() ? "" : folders.front());
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
#endif
