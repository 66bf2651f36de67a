#include "image/sets/named_paths.hpp"

#include <feedline/error.hpp>

#include "io/file_system.hpp"

#include <filesystem>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace feedline::detail {

namespace fs = std::filesystem;

image_files files_at(const std::vector<std::string>& paths) {
  image_files files;
  std::unordered_map<std::string, std::size_t> folders;
  for (const std::string& path : paths) {
    const auto [folder, is_new] = folders.emplace(folder_of(path), folders.size());
    if (is_new) files.folders.push_back(folder->first);
    files.add(fs::path{path}.filename().string(), folder->second);
  }
  files.names.shrink_to_fit();
  files.files.shrink_to_fit();
  return files;
}

std::optional<std::size_t> first_missing(const std::vector<std::string>& paths) {
  std::unordered_map<std::string, std::optional<std::set<std::string>>> folders;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string folder = folder_of(paths[i]);
    const auto [found, is_new] = folders.try_emplace(folder, std::set<std::string>{});
    auto& names = found->second;
    if (is_new && kind_of_entry(folder) == entry_kind::folder) {
      for (folder_entry& each : file_system_of(folder)->list(folder))
        if (!each.is_folder) names->insert(std::move(each.name));
    } else if (is_new && kind_of_entry(paths[i]) == entry_kind::file) {
      names.reset();  // a web server, which has no lists
    }
    if (names && !names->contains(fs::path{paths[i]}.filename().string())) return i;
  }
  return std::nullopt;
}

std::string path_below(const std::string& folder, const std::string& path) {
  if (path.find("://") != std::string::npos) return path;
  return (fs::path{folder} / path).string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path{path}.parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string text_of_file(const std::string& path) {
  std::string text;
  (void)file_system_of(path)->read_whole(path, [&](std::size_t bytes) {
    text.resize(bytes);
    return std::as_writable_bytes(std::span{text});
  });
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // some editors write it
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

}  // namespace feedline::detail
