#ifdef FEEDLINE_HAS_JSON

#include "formats/zarr/hierarchy.hpp"

#include "detail/printable.hpp"
#include "detail/text.hpp"
#include "formats/zarr/json/document.hpp"
#include "formats/zarr/metadata.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace feedline::detail {
namespace {

constexpr int max_depth = 32;
constexpr std::size_t max_nodes = 1'000'000;

std::string join(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + '/' + name;
}

/// Finds the arrays of a store.
class finder {
 public:
  explicit finder(const zarr_store& store) : store_{store} {}

  std::vector<zarr_node> find() {
    if (const auto root = document("zarr.json")) {
      find_below_v3(*root, {}, 0);
    } else if (const auto consolidated = document(".zmetadata")) {
      take_consolidated_v2(*consolidated);
    } else if (const auto array = document(".zarray")) {
      add_v2({}, *array, document(".zattrs"));
    } else if (document(".zgroup")) {
      walk_v2({}, 0);
    } else {
      throw error({}, "is no Zarr store: it has neither zarr.json nor .zgroup or .zarray");
    }
    std::ranges::sort(nodes_, {}, &zarr_node::path);
    return std::move(nodes_);
  }

  /// Null if there is none.
  [[nodiscard]] std::optional<zarr_json> document(const std::string& key) const {
    const auto text = store_.text(key);
    if (!text) return std::nullopt;
    return parse_zarr_json(*text, {store_.path_of(key), {}});
  }

  [[nodiscard]] file_field where(const std::string& key, const std::string& path) const {
    return {store_.path_of(key), path};
  }

 private:
  [[nodiscard]] dataset_error error(const std::string& key, const std::string& message) const {
    return {{.path = store_.path_of(key), .field = {}}, message};
  }

  /// "array" or "group".
  [[nodiscard]] std::string node_type(const zarr_json& node, const std::string& key) const {
    const zarr_members members{node, where(key, {}), "the metadata"};
    if (members.whole("zarr_format") != 3) members.refuse_member("zarr_format", "3");
    std::string type = members.text("node_type");
    if (type != "array" && type != "group")
      members.refuse_member("node_type", "\"array\" or \"group\"");
    return type;
  }

  void find_below_v3(const zarr_json& node, const std::string& path, int depth) {
    const std::string key = join(path, "zarr.json");
    if (node_type(node, key) == "array")
      return add(path, [&] { return parse_v3_array(node, path, where(key, path)); });
    const auto consolidated = node.find("consolidated_metadata");
    if (consolidated != node.end() && consolidated->is_object())
      return take_consolidated_v3(*consolidated, key, path);
    walk(path, depth, [&](const std::string& child) {
      const std::string document_key = join(child, "zarr.json");
      try {
        if (const auto found = document(document_key)) find_below_v3(*found, child, depth + 1);
      } catch (const zarr_not_a_field&) {
        throw;
      } catch (const dataset_error& failure) {
        if (failure.path() != store_.path_of(document_key)) throw;
        add(child, [&]() -> zarr_array { throw dataset_error{failure}; });
      }
    });
  }

  void take_consolidated_v3(const zarr_json& consolidated, const std::string& key,
                            const std::string& path) {
    const zarr_members members{consolidated, where(key, {}), "the consolidated metadata"};
    const zarr_members nodes{members.at("metadata"), where(key, {}), "the consolidated metadata"};
    for (const auto& item : nodes.object().items()) {
      const zarr_json& node = item.value();
      const std::string child = join(path, item.key());
      if (node_type(node, key) == "array")
        add(child, [&] { return parse_v3_array(node, child, where(key, child)); });
    }
  }

  void take_consolidated_v2(const zarr_json& document) {
    const file_field place = where(".zmetadata", {});
    const zarr_members top{document, place, "the consolidated metadata"};
    const zarr_members nodes{top.at("metadata"), place, "the consolidated metadata"};
    constexpr std::string_view array_name = ".zarray";
    for (const auto& item : nodes.object().items()) {
      const std::string& name = item.key();
      const zarr_json& node = item.value();
      if (name != array_name && !name.ends_with("/.zarray")) continue;
      std::string path = name.substr(0, name.size() - array_name.size());
      const zarr_json* const attributes = nodes.find((path + ".zattrs").c_str());
      if (!path.empty()) path.pop_back();
      add(path, [&] { return parse_v2_array(node, attributes, path, where(".zmetadata", path)); });
    }
  }

  void add_v2(const std::string& path, const zarr_json& array,
              const std::optional<zarr_json>& attributes) {
    add(path, [&] {
      return parse_v2_array(array, attributes ? &*attributes : nullptr, path,
                            where(join(path, ".zarray"), path));
    });
  }

  void walk_v2(const std::string& path, int depth) {
    walk(path, depth, [&](const std::string& child) {
      if (store_.text(join(child, ".zarray"))) {
        add(child, [&] { return load_zarr_array(store_, child); });
      } else if (store_.text(join(child, ".zgroup"))) {
        walk_v2(child, depth + 1);
      }
    });
  }

  /// Calls a function for each folder within a group.
  template <class Visit>
  void walk(const std::string& path, int depth, Visit visit) {
    if (depth > max_depth)
      throw error(path, "groups are nested more than " + std::to_string(max_depth) +
                            " levels deep: does a link lead back? Name the arrays instead");
    if (!store_.can_list())
      throw error(path,
                  "is a group without consolidated metadata, on a server that has no lists of "
                  "files; name the arrays, or write the metadata by zarr.consolidate_metadata");
    for (const folder_entry& entry : store_.list(path))
      if (entry.is_folder) visit(join(path, entry.name));
  }

  template <class Load>
  void add(const std::string& path, Load load) {
    if (nodes_.size() == max_nodes)
      throw error({}, "holds more than " + std::to_string(max_nodes) + " arrays; name some");
    zarr_node& node = nodes_.emplace_back(zarr_node{.path = path});
    try {
      node.array = load();
    } catch (const zarr_not_a_field& why) {
      node.left_out = why.message();
    } catch (const dataset_error& why) {
      node.refusal = why.message();
    }
    if (!node.array) return;
    const auto& shape = node.array->shape;
    if (shape.empty())
      node.left_out = "a single value";
    else if (shape.front() == 0)
      node.left_out = "it has no samples";
    else if (std::ranges::count(shape, 0U) != 0)
      node.left_out = "its samples have no values";
    else if (const std::string why = node.array->codecs.refusal(); !why.empty())
      node.refusal = why;
    if (!node.left_out.empty() || !node.refusal.empty()) node.array.reset();
  }

  const zarr_store& store_;
  std::vector<zarr_node> nodes_ = {};
};

}  // namespace

std::string default_zarr_name(std::string store, const std::string& path) {
  if (!path.empty()) return path.substr(path.find_last_of('/') + 1);
  while (store.size() > 1 && store.ends_with('/')) store.pop_back();
  store.erase(0, store.find_last_of('/') + 1);
  for (const std::string_view ending : {".zip", ".zarr"})
    if (store.size() > ending.size() && store.ends_with(ending))
      store.resize(store.size() - ending.size());
  return store;
}

bool is_zarr(const zarr_store& store) {
  for (const char* const name : {"zarr.json", ".zgroup", ".zarray", ".zmetadata"})
    if (store.text(name)) return true;
  return false;
}

std::vector<zarr_node> find_zarr_arrays(const zarr_store& store) {
  return finder{store}.find();
}

std::string without_slashes(std::string path) {
  while (path.starts_with('/')) path.erase(0, 1);
  while (path.ends_with('/')) path.pop_back();
  return path;
}

zarr_array load_zarr_array(const zarr_store& store, const std::string& given) {
  const finder found{store};
  const std::string path = without_slashes(given);
  const std::string prefix = path.empty() ? "" : path + '/';
  if (const auto node = found.document(prefix + "zarr.json"); node && node->is_object()) {
    const auto type = node->find("node_type");
    if (type == node->end() || *type != "group")
      return parse_v3_array(*node, path, found.where(prefix + "zarr.json", path));
  }
  if (const auto array = found.document(prefix + ".zarray")) {
    const auto attributes = found.document(prefix + ".zattrs");
    return parse_v2_array(*array, attributes ? &*attributes : nullptr, path,
                          found.where(prefix + ".zarray", path));
  }
  std::string there;
  if (store.can_list()) try {
      std::vector<std::string> names;
      for (const zarr_node& node : find_zarr_arrays(store)) names.push_back(node.path);
      there = "; there are: " + list_names(names);
    } catch (const dataset_error& why) {
      there = "; the arrays cannot be listed: " + why.message();
    }
  throw dataset_error{{.path = store.name(), .field = path}, "has no array of this path" + there};
}

}  // namespace feedline::detail

#endif
