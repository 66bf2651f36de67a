#include <feedline/formats/litdata.hpp>

#include "formats/columns/index_file.hpp"
#include "formats/litdata/set.hpp"
#include "formats/open/format_entry.hpp"

#include <string_view>

namespace feedline::detail {
namespace {

bool is_litdata_index(const probed_file& file) {
  const std::string_view text{reinterpret_cast<const char*>(file.head.data()), file.head.size()};
  return text.find("\"chunks\"") != text.npos && text.find("\"chunk_bytes\"") != text.npos;
}

bool is_litdata_folder(const std::string& path) {
  return folder_has_index(path, "\"chunks\"");
}

std::vector<listed_field> list_litdata(const std::string& folder, const open_options& options) {
#ifdef FEEDLINE_HAS_JSON
  const shard_options how = shard_options_of(options);
  return list_columns("open_litdata", open_litdata_records({folder}, how), how);
#else
  (void)options;
  refuse_without_json(folder);
#endif
}

}  // namespace

format_entry litdata_format() {
  return {.name = "litdata",
          .known_as = "folders of LitData",
          .is = is_litdata_index,
          .open =
              [](const std::vector<std::string>& folders, const open_options& options) {
                return open_litdata(folders, shard_options_of(options));
              },
          .list = list_litdata,
          .is_folder = is_litdata_folder,
          .takes_pad = true};
}

}  // namespace feedline::detail

#ifndef FEEDLINE_HAS_JSON
namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_litdata(const std::vector<std::string>& folders, const shard_options&) {
  detail::refuse_without_json(folders.empty() ? "" : folders.front());
}

ragged_dataset_ptr open_litdata_ragged(const std::vector<std::string>& folders, const std::string&,
                                       const shard_options&) {
  detail::refuse_without_json(folders.empty() ? "" : folders.front());
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
#endif
