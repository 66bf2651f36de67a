#include "formats/columns/index_file.hpp"

#include <feedline/error.hpp>

#include "io/file_system.hpp"

#include <algorithm>

namespace feedline::detail {

std::string index_path(const std::string& folder) {
  constexpr std::string_view name = "index.json";
  if (folder.ends_with(name)) return folder;
  return folder + (folder.ends_with('/') ? "" : "/") + std::string{name};
}

bool folder_has_index(const std::string& folder, std::string_view word) {
  constexpr std::uint64_t looked_at = 4096;
  const std::string path = index_path(folder);
  if (kind_of_entry(path) != entry_kind::file) return false;
  const byte_file_ptr file = open_file(path);
  std::string head(static_cast<std::size_t>(std::min(file->size(), looked_at)), ' ');
  file->read(0, std::as_writable_bytes(std::span{head}));
  return head.find(word) != std::string::npos;
}

void refuse_without_json(const std::string& path) {
  throw dataset_error{{.path = path, .field = {}},
                      "has an index in JSON, and this feedline was built without nlohmann-json; "
                      "install nlohmann-json3-dev, and build feedline again"};
}

}  // namespace feedline::detail
