#ifdef FEEDLINE_HAS_JSON

#include "formats/columns/hub_classes.hpp"

#include "formats/columns/index_json.hpp"

#include <utility>

namespace feedline::detail {
namespace {

using class_map = std::map<std::string, std::vector<std::string>>;

/// Looks for labels in a feature and in those within it, at most 64 levels deep.
void find_labels(const nlohmann::json& feature, const std::string& name, const std::string& path,
                 class_map& found) {
  if (feature.is_array()) {
    for (const nlohmann::json& each : feature) find_labels(each, name, path, found);
    return;
  }
  if (!feature.is_object()) return;
  const auto kind = feature.find("_type");
  if (kind == feature.end() || !kind->is_string()) {  // an object of features
    for (const auto& [key, within] : feature.items())
      find_labels(within, name.empty() ? key : name + '.' + key, path, found);
    return;
  }
  if (*kind == "ClassLabel") {
    const index_object label{feature, path, "the label '" + name + '\''};
    std::vector<std::string> names = label.texts("names");
    if (!names.empty()) found.emplace(name, std::move(names));
    return;
  }
  if (const auto within = feature.find("feature"); within != feature.end())  // a list of these
    find_labels(*within, name, path, found);
}

}  // namespace

class_map read_hub_classes(const std::string& text, const std::string& path) {
  const nlohmann::json document = parse_index(text, path);
  const index_object info =
      index_object{document, path, "the metadata 'huggingface'"}.object("info");
  class_map found;
  if (const nlohmann::json* const features = info.find("features"))
    find_labels(*features, {}, path, found);
  return found;
}

}  // namespace feedline::detail

#endif
