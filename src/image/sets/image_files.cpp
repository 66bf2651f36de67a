#include "image/sets/image_files.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"
#include "io/file_system.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace feedline::detail {
namespace {

namespace fs = std::filesystem;

/// Depth limit, because a link back to a parent folder makes endless folders.
constexpr unsigned deepest = 32;

constexpr std::array<std::string_view, 9> extensions{".jpg",  ".jpeg", ".png", ".webp", ".tif",
                                                     ".tiff", ".bmp",  ".ppm", ".pgm"};

std::string extension_list() {
  std::string list;
  for (const std::string_view each : extensions) list.append(list.empty() ? "" : ", ").append(each);
  return list;
}

/// Entries of a folder in order of name, without hidden ones.
std::vector<folder_entry> entries_of(const fs::path& folder) {
  std::vector<folder_entry> entries = file_system_of(folder.string())->list(folder.string());
  std::erase_if(entries, [](const folder_entry& each) { return each.name.starts_with('.'); });
  std::ranges::sort(entries, {}, &folder_entry::name);
  return entries;
}

}  // namespace

bool is_named_as_image(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos &&
         std::ranges::count(extensions, in_lower_case(name.substr(dot))) != 0;
}

image_lister::image_lister(fs::path root, fs::path shown, image_folder& told,
                           std::vector<std::string> classes)
    : root_{std::move(root)}, shown_{std::move(shown)}, told_{told}, classes_{std::move(classes)} {}

image_lister::image_lister(fs::path root, fs::path shown, image_folder& told)
    : root_{std::move(root)}, shown_{std::move(shown)}, told_{told} {
  for (folder_entry& each : entries_of(root_))
    each.is_folder ? classes_.push_back(std::move(each.name)) : leave_out(root_ / each.name);
  refuse_foreign_folder(root_, classes_);
  if (classes_.empty()) throw no_class();
}

dataset_error image_lister::no_class() const {
  const dataset_location where{.path = root_.string(), .field = {}};
  if (!left_out_.empty() && !is_named_as_image(left_out_.ending()))
    return {where, "a folder of " + left_out_.describe() +
                       ", and not one of images by class; open files by their paths, several of "
                       "one kind by a pattern such as '" +
                       (root_ / ("*" + left_out_.ending())).string() + "'"};
  return {
      where,
      "holds no folder: there should be one for each class, with the images of the class in it" +
          (left_out_.empty() ? std::string{}
                             : "; it holds " + left_out_.describe() + ", of no class")};
}

void image_lister::list_class(const std::string& name, image_files& into) {
  const fs::path folder = root_ / name;
  if (!list_into(folder, into))
    throw dataset_error{{.path = folder.string(), .field = {}},
                        "the class has no image (" + extension_list() + ")" +
                            (left_out_.empty() ? std::string{} : " but " + left_out_.describe()) +
                            "; give it some, or remove its folder"};
}

bool image_lister::list_into(const fs::path& folder, image_files& into) {
  left_out_.clear();
  std::map<std::string, std::vector<std::string>> found;  // file names, by folder
  list_folder(folder, 0, found);
  for (const auto& [path, names] : found) {
    for (const std::string& file : names) into.add(file, into.folders.size());
    into.folders.push_back(path);
  }
  return !found.empty();
}

image_files image_lister::list_all(const fs::path& root, const fs::path& shown,
                                   image_folder& told) {
  image_lister lister{root, shown, told, {}};
  image_files found;
  if (!lister.list_into(root, found))
    throw dataset_error{
        {.path = root.string(), .field = {}},
        "holds no image (" + extension_list() + ")" +
            (lister.left_out_.empty() ? std::string{} : " but " + lister.left_out_.describe())};
  return found;
}

void image_lister::list_folder(const fs::path& folder, unsigned depth,
                               std::map<std::string, std::vector<std::string>>& found) {
  if (depth > deepest)
    throw dataset_error{{.path = folder.string(), .field = {}},
                        "lies " + std::to_string(depth) +
                            " folders deep: does a link lead back to a folder above?"};
  for (folder_entry& each : entries_of(folder)) {
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
  left_out_.add(path.filename().string());
  if (told_.examples.size() < max_examples)
    told_.examples.push_back((shown_.empty() ? path : path.lexically_relative(shown_)).string());
}

}  // namespace feedline::detail
