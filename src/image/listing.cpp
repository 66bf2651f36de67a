#include "image/listing.hpp"

#include <feedline/error.hpp>

#include "detail/text.hpp"

#include <system_error>

#include <algorithm>

namespace feedline::detail {
namespace {

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
std::vector<entry> entries_of(const std::filesystem::path& folder) try {
  std::vector<entry> entries;
  for (const auto& each : std::filesystem::directory_iterator{folder}) {
    std::string name = each.path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code broken_link;
    entries.push_back({std::move(name), each.is_directory(broken_link)});
  }
  std::ranges::sort(entries, {}, &entry::name);
  return entries;
} catch (const std::filesystem::filesystem_error& error) {
  throw dataset_error{
      {.path = folder.string(), .field = {}},
      "cannot be listed: " + error.code().message() + "; check the path and its permissions"};
}

}  // namespace

image_listing::image_listing(const std::filesystem::path& root) : root_{root} {
  for (entry& each : entries_of(root)) {
    if (each.is_folder) {
      classes_.push_back(std::move(each.name));
    } else {
      leave_out(root / each.name);
    }
  }
  if (classes_.empty())
    throw dataset_error{{.path = root.string(), .field = {}},
                        "holds no folder: there should be one for each class, with the images of "
                        "the class in it"};
  for (const std::string& name : classes_) list_class(root / name);
  names_.shrink_to_fit();
  files_.shrink_to_fit();
}

void image_listing::list_class(const std::filesystem::path& folder) {
  std::vector<folder_files> found;
  list_folder(folder, 0, found);
  std::ranges::sort(found, {}, &folder_files::folder);
  const std::size_t before = files_.size();
  for (folder_files& each : found) {
    if (each.names.empty()) continue;
    for (const std::string& name : each.names) {
      names_ += name;
      files_.push_back({names_.size(), static_cast<std::uint32_t>(folders_.size())});
    }
    folders_.push_back(std::move(each.folder));
  }
  if (files_.size() == before)
    throw dataset_error{{.path = folder.string(), .field = {}},
                        "the class has no image (.jpg, .jpeg, .png); give it some, or remove its "
                        "folder"};
  class_ends_.push_back(files_.size());
}

/// A folder, and those within.
void image_listing::list_folder(const std::filesystem::path& folder, unsigned depth,
                                std::vector<folder_files>& found) {
  if (depth > deepest)
    throw dataset_error{{.path = folder.string(), .field = {}},
                        "lies " + std::to_string(depth) +
                            " folders deep: does a link lead back to a folder above?"};
  const std::size_t place = found.size();
  found.push_back({folder.string(), {}});
  for (entry& each : entries_of(folder)) {
    if (each.is_folder) {
      list_folder(folder / each.name, depth + 1, found);
    } else if (is_named_as_image(each.name)) {
      found[place].names.push_back(std::move(each.name));
    } else {
      leave_out(folder / each.name);
    }
  }
}

void image_listing::leave_out(const std::filesystem::path& path) {
  ++skipped_files_;
  if (examples_.size() < max_examples) examples_.push_back(path.lexically_relative(root_).string());
}

void image_listing::path_of(std::uint64_t image, std::string& out) const {
  const file& each = files_[image];
  const std::uint64_t begin = image == 0 ? 0 : files_[image - 1].name_end;
  out = folders_[each.folder];
  out += '/';
  out.append(names_, begin, each.name_end - begin);
}

std::uint32_t image_listing::class_of(std::uint64_t image) const noexcept {
  const auto found = std::upper_bound(class_ends_.begin(), class_ends_.end(), image);
  return static_cast<std::uint32_t>(found - class_ends_.begin());
}

}  // namespace feedline::detail
