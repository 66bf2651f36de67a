#include "image/image_files.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "io/descriptor.hpp"

#include <system_error>

#include <algorithm>
#include <string_view>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

/// A link that leads back to a folder above it makes folders without end.
constexpr unsigned deepest = 32;

bool is_named_as_image(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string extension = in_lower_case(name.substr(dot));
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

struct entry {
  std::string name;
  bool is_folder = false;
};

/// What a folder holds in order of name, hidden things left out; links count as what they lead to.
std::vector<entry> entries_of(const fs::path& folder) try {
  std::vector<entry> entries;
  for (const auto& each : fs::directory_iterator{folder}) {
    std::string name = each.path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code broken_link;
    entries.push_back({std::move(name), each.is_directory(broken_link)});
  }
  std::ranges::sort(entries, {}, &entry::name);
  return entries;
} catch (const fs::filesystem_error& error) {
  throw dataset_error{{.path = folder.string(), .field = {}},
                      "cannot be listed: " + error.code().message() + "; " +
                          remedy_for_opening(error.code().value())};
}

}  // namespace

image_lister::image_lister(fs::path root, image_folder& told)
    : root_{std::move(root)}, told_{told} {
  for (entry& each : entries_of(root_))
    each.is_folder ? told_.classes.push_back(std::move(each.name)) : leave_out(root_ / each.name);
  if (told_.classes.empty())
    throw dataset_error{{.path = root_.string(), .field = {}},
                        "holds no folder: there should be one for each class, with the images "
                        "of the class in it"};
}

void image_lister::list_class(const std::string& name, image_files& into) {
  const fs::path folder = root_ / name;
  std::map<std::string, std::vector<std::string>> found;  // names, by folder
  list_folder(folder, 0, found);
  if (found.empty())
    throw dataset_error{{.path = folder.string(), .field = {}},
                        "the class has no image (.jpg, .jpeg, .png); give it some, or remove "
                        "its folder"};
  for (const auto& [path, names] : found) {
    for (const std::string& file : names) {
      into.names += file;
      into.files.push_back({into.names.size(), static_cast<std::uint32_t>(into.folders.size())});
    }
    into.folders.push_back(path);
  }
}

void image_lister::list_folder(const fs::path& folder, unsigned depth,
                               std::map<std::string, std::vector<std::string>>& found) {
  if (depth > deepest)
    throw dataset_error{{.path = folder.string(), .field = {}},
                        "lies " + std::to_string(depth) +
                            " folders deep: does a link lead back to a folder above?"};
  for (entry& each : entries_of(folder)) {
    if (each.is_folder) {
      list_folder(folder / each.name, depth + 1, found);
    } else if (is_named_as_image(each.name)) {
      found[folder.string()].push_back(std::move(each.name));
    } else {
      leave_out(folder / each.name);
    }
  }
}

void image_lister::leave_out(const fs::path& path) {
  constexpr std::size_t max_examples = 10;
  ++told_.skipped_files;
  if (told_.examples.size() < max_examples)
    told_.examples.push_back(path.lexically_relative(root_).string());
}

}  // namespace feedline::detail
