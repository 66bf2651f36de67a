#include <feedline/error.hpp>

#include "formats/columns/index_file.hpp"
#include "formats/open/format_entry.hpp"
#include "formats/open/format_table.hpp"
#include "io/file_system.hpp"
#ifdef FEEDLINE_HAS_JSON
#include "detail/printable.hpp"
#include "detail/threads.hpp"
#include "formats/columns/index_json.hpp"
#endif

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The index that WebDataset's `wids-index` writes: a list of tar shards in JSON, with the size and
// the number of samples of each.

namespace feedline::detail {
namespace {

/// A shard as the index describes it.
struct wids_shard {
  std::string path;
  std::uint64_t samples = 0;
  std::optional<std::uint64_t> bytes = std::nullopt;
};

bool is_wids_index(const probed_file& file) {
  const std::string_view text{reinterpret_cast<const char*>(file.head.data()), file.head.size()};
  return text.starts_with('{') && text.find("\"shardlist\"") != text.npos &&
         text.find("\"wids_version\"") != text.npos;
}

#ifdef FEEDLINE_HAS_JSON
/// Compares the files' sizes with those of the index.
void require_sizes(const std::vector<wids_shard>& shards, const std::string& index) {
  parallel_for(
      shards.size(),
      [&](std::size_t i) {
        const wids_shard& each = shards[i];
        if (!each.bytes) return;
        const std::uint64_t bytes = open_file(each.path)->size();
        if (bytes != *each.bytes)
          throw dataset_error{{.path = each.path, .field = {}},
                              "has " + std::to_string(bytes) + " bytes, but " + printable(index) +
                                  " says " + std::to_string(*each.bytes) + "; get both again"};
      },
      files_opened_at_once);
}

std::vector<wids_shard> shards_in_index(const std::string& path) {
  const nlohmann::json document = parse_index(read_index_text(path), path);
  const index_object index{document, path, "the index"};
  if (const auto version = index.whole("wids_version"); version != 1)
    index.refuse("is of version " + std::to_string(version) + ", and feedline reads 1");
  if (index.find("datasets") != nullptr)
    index.refuse("names other indexes (\"datasets\"), which feedline does not follow");
  std::string base = index.text_or_empty("base");
  if (!base.empty() && !base.ends_with('/')) base += '/';
  std::vector<wids_shard> shards;
  for (const nlohmann::json& each : index.list("shardlist")) {
    const index_object shard{each, path, "shard " + std::to_string(shards.size())};
    const std::string url = base + shard.text("url");
    const bool is_address = url.find("://") != std::string::npos;
    shards.push_back({is_address ? url : path_beside(path, url), shard.whole("nsamples")});
    if (shard.find("filesize") != nullptr) shards.back().bytes = shard.whole("filesize");
  }
  if (shards.empty()) index.refuse("names no shard");
  require_sizes(shards, path);
  return shards;
}

dataset_ptr open_wids(const std::vector<std::string>& indexes, const open_options& options) {
  const format_entry& tar = *find_format("tar");
  std::vector<wids_shard> shards;
  for (const std::string& path : indexes)
    for (wids_shard& each : shards_in_index(path)) shards.push_back(std::move(each));
  std::vector<std::string> paths;
  std::uint64_t samples = 0;
  for (const wids_shard& each : shards) {
    paths.push_back(each.path);
    samples += each.samples;
  }
  dataset_ptr opened = tar.open(paths, options);
  if (opened->size() == samples) return opened;
  for (const wids_shard& each : shards) {
    const std::uint64_t found = tar.open({each.path}, options)->size();
    if (found != each.samples)
      throw dataset_error{{.path = each.path, .field = {}},
                          "has " + std::to_string(found) + " samples, but the index says " +
                              std::to_string(each.samples) + "; get both again"};
  }
  return opened;
}
#else
dataset_ptr open_wids(const std::vector<std::string>& indexes, const open_options&) {
  refuse_without_json(indexes.front());
}
#endif

}  // namespace

format_entry wids_format() {
  return {.name = "wids",
          .known_as = "WebDataset's indexes of tar shards (wids)",
          .is = is_wids_index,
          .open = open_wids};
}

}  // namespace feedline::detail
