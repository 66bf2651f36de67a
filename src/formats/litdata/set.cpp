#ifdef FEEDLINE_HAS_JSON

#include "formats/litdata/set.hpp"

#include <feedline/error.hpp>
#include <feedline/formats/expand_paths.hpp>
#include <feedline/formats/litdata.hpp>

#include "detail/printable.hpp"
#include "detail/threads.hpp"
#include "formats/columns/index_file.hpp"
#include "formats/columns/index_json.hpp"
#include "formats/litdata/frames.hpp"
#include "formats/litdata/serializers.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace feedline::detail {
namespace {

/// Names the leaves of a tree of PyTorch (pytree) in their order.
void append_leaves(const index_object& node, const std::string& path, const std::string& before,
                   std::vector<std::string>& names) {
  const nlohmann::json& children = node.list("children_spec");
  if (node.find("type") == nullptr) return names.push_back(before.empty() ? "value" : before);
  nlohmann::json keys = nlohmann::json::array();
  const std::string context = node.text_or_empty("context");
  if (context.starts_with('[')) keys = parse_index(context, path);
  if (!keys.is_array() || keys.size() != children.size()) keys = nlohmann::json::array();
  for (std::size_t i = 0; i < children.size(); ++i) {
    std::string key = std::to_string(i);
    if (!keys.empty()) key = keys[i].is_string() ? keys[i].get<std::string>() : keys[i].dump();
    append_leaves({children[i], path, "the tree of a sample"}, path,
                  before.empty() ? key : before + '.' + key, names);
  }
}

/// The names of a sample's leaves; by number if the index does not describe its tree.
std::vector<std::string> leaf_names(const index_object& config, std::size_t count,
                                    const std::string& path) {
  std::vector<std::string> names;
  if (const std::string spec = config.text_or_empty("data_spec"); !spec.empty()) {
    const nlohmann::json tree = parse_index(spec, path);
    if (!tree.is_array() || tree.size() != 2)
      config.refuse("has a \"data_spec\" that is no tree of PyTorch");
    append_leaves({tree[1], path, "the tree of a sample"}, path, {}, names);
  } else {
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  }
  if (names.size() != count)
    config.refuse("has a \"data_spec\" of " + std::to_string(names.size()) +
                  " values, but a \"data_format\" of " + std::to_string(count));
  return names;
}

record_layout leaves_of(const index_object& config, const std::string& path, bool has_sizes) {
  const std::vector<std::string> serializers = config.texts("data_format");
  const std::vector<std::string> names = leaf_names(config, serializers.size(), path);
  record_layout layout{.columns = {}, .has_sizes = has_sizes};
  std::set<std::string> known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!known.insert(names[i]).second)
      config.refuse("has two values named '" + printable(names[i]) + '\'');
    layout.columns.push_back(litdata_column(names[i], serializers[i]));
  }
  if (layout.columns.empty()) config.refuse("has an empty \"data_format\"");
  return layout;
}

bool have_same_leaves(const record_layout& a, const record_layout& b) {
  return a.has_sizes == b.has_sizes &&
         std::ranges::equal(a.columns, b.columns, [](const auto& one, const auto& other) {
           return one.name == other.name && one.coding == other.coding;
         });
}

/// The codec of whole chunks. @param is_batched Set if records are compressed in batches.
shard_codec codec_of(const index_object& config, const std::string& path, bool& is_batched) {
  const std::string name = config.text_or_empty("compression");
  const std::string level = config.text_or_empty("compression_level");
  if (name.empty()) return shard_codec::none;
  is_batched = level == "batch";
  if (!level.empty() && level != "chunk" && level != "batch")
    config.refuse("says that records are compressed one by one (compression_level '" +
                  printable(level) + "'), and feedline reads 'chunk' and 'batch'");
  try {
    return find_shard_codec(name);
  } catch (const dataset_error& fault) {
    throw dataset_error{{.path = path, .field = {}}, fault.message()};
  }
}

/// Rows in Arrow's format have no bytes before the table that follows them.
void require_plain_rows(const coded_values& records, const record_layout& layout) {
  std::vector<std::byte> memory;
  const auto first = records.read(0, [&](std::size_t bytes) { return room_in(memory, bytes); });
  if (first.empty() && layout.has_sizes)
    records.refuse({{},
                    "the rows of this chunk are stored in Arrow's format, which feedline does not "
                    "read; write tensors or arrays (numpy) instead of plain values, or Parquet"},
                   0);
}

coded_values_ptr open_chunks(litdata_index all, std::size_t max_host_cache_bytes) {
  if (!all.is_batched) return make_shard_values(std::move(all.chunks), max_host_cache_bytes);
  std::erase_if(all.chunks, [](const described_shard& each) { return each.samples == 0; });
  std::vector<std::vector<packed_block>> found(all.chunks.size());
  parallel_for(
      found.size(),
      [&](std::size_t i) {
        found[i] = read_litdata_frames(open_shard_file(all.chunks[i]), all.chunks[i].samples);
      },
      files_opened_at_once);
  std::vector<packed_block> blocks;
  for (auto& each : found) std::ranges::move(each, std::back_inserter(blocks));
  return make_packed_values(std::move(blocks), max_host_cache_bytes);
}

}  // namespace

litdata_index read_litdata_index(const std::string& text, const std::string& path) {
  const nlohmann::json document = parse_index(text, path);
  const index_object index{document, path, "the index"};
  const index_object config = index.object("config");
  if (config.find("encryption") != nullptr)
    config.refuse("says that the chunks are encrypted, which feedline does not read");
  const std::string loader = config.text_or_empty("item_loader");
  const bool has_tokens = loader == "TokensLoader";
  if (!loader.empty() && loader != "PyTreeLoader" && !has_tokens)
    config.refuse("says that records are for '" + printable(loader) +
                  "', and feedline reads those for PyTreeLoader and TokensLoader");
  litdata_index found;
  const shard_codec codec = codec_of(config, path, found.is_batched);
  found.layout = leaves_of(config, path, !has_tokens);
  if (has_tokens && found.layout.columns.size() != 1)
    config.refuse("has records for TokensLoader of more than one value");
  std::size_t number = 0;
  for (const nlohmann::json& each : index.list("chunks")) {
    const index_object chunk{each, path, "chunk " + std::to_string(number++)};
    described_shard& made = found.chunks.emplace_back();
    made.path = path_beside(path, chunk.text("filename"));
    made.samples = chunk.whole("chunk_size");
    const std::uint64_t bytes = chunk.whole("chunk_bytes");
    if (bytes == 0 && made.samples != 0) chunk.refuse("has records, but no bytes");
    const bool is_packed = codec != shard_codec::none && !found.is_batched;
    (is_packed ? made.raw_bytes : made.bytes) = bytes;
    made.codec = is_packed ? codec : shard_codec::none;
    // Older writers did not count the table of offsets.
    if (!found.is_batched && made.samples < std::uint64_t{1} << 32)
      made.slack = offset_table_bytes(made.samples);
  }
  return found;
}

columned_records open_litdata_records(const std::vector<std::string>& folders,
                                      const shard_options& options) {
  if (folders.empty()) throw usage_error{"open_litdata: there is no folder"};
  litdata_index all;
  std::string first;
  std::uint64_t samples = 0;
  for (const std::string& folder : expand_paths(folders)) {
    const std::string path = index_path(folder);
    litdata_index one = read_litdata_index(read_index_text(path), path);
    const bool is_first = first.empty();
    if (is_first) {
      first = path;
      all.layout = std::move(one.layout);
      all.is_batched = one.is_batched;
    } else if (!have_same_leaves(all.layout, one.layout) || all.is_batched != one.is_batched) {
      throw dataset_error{{.path = path, .field = {}},
                          "has other values or another compression than " + first +
                              "; sets that are opened together have the same"};
    }
    for (described_shard& each : one.chunks) {
      samples += each.samples;
      all.chunks.push_back(std::move(each));
    }
  }
  if (samples == 0) throw dataset_error{{.path = first, .field = {}}, "holds no record"};
  record_layout layout = all.layout;
  auto records = open_chunks(std::move(all), options.max_host_cache_bytes);
  require_plain_rows(*records, layout);
  return {std::move(records), std::move(layout)};
}

}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

dataset_ptr open_litdata(const std::vector<std::string>& folders, const shard_options& options) {
  return detail::make_columns_dataset("open_litdata",
                                      detail::open_litdata_records(folders, options), options);
}

ragged_dataset_ptr open_litdata_ragged(const std::vector<std::string>& folders,
                                       const std::string& field, const shard_options& options) {
  return detail::make_column_ragged("open_litdata", detail::open_litdata_records(folders, options),
                                    field, options);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

#endif
