#pragma once

#include <feedline/error.hpp>
#include <feedline/image/folder.hpp>

#include "image/sets/foreign_folder.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Whether a name ends as those of images do, in capitals or not.
[[nodiscard]] bool is_named_as_image(std::string_view name);

/// The images that were found. Names are stored in one block of memory.
struct image_files {
  struct file {
    std::uint64_t name_end = 0;  ///< end in `names`
    std::uint32_t folder = 0;
  };

  std::vector<std::string> folders = {};
  std::vector<file> files = {};
  std::string names = {};  ///< names of all files, one after the other

  /// Adds a file of the folder that is added next, or of the last one.
  void add(std::string_view name, std::size_t folder) {
    names += name;
    files.push_back({names.size(), static_cast<std::uint32_t>(folder)});
  }

  [[nodiscard]] std::string path_of(std::uint64_t image) const {
    const file& each = files[image];
    const std::uint64_t begin = image == 0 ? 0 : files[image - 1].name_end;
    const std::string& folder = folders[each.folder];
    std::string path;
    path.reserve(folder.size() + 1 + (each.name_end - begin));
    path.append(folder).append(1, '/').append(names, begin, each.name_end - begin);
    return path;
  }
};

/// Finds a root's classes and their images. Reports on the folder go to `told`.
class image_lister {
 public:
  /// Finds the classes.
  /// @param shown Examples of skipped files are named relative to it; empty: by their whole paths.
  /// @throws dataset_error if there are no classes, the folder is not one of images by class, or it
  /// cannot be listed.
  image_lister(std::filesystem::path root, std::filesystem::path shown, image_folder& told);

  /// Names of the classes, in byte order; not empty.
  [[nodiscard]] const std::vector<std::string>& classes() const noexcept { return classes_; }

  /// Adds a class's images. @throws dataset_error as above.
  void list_class(const std::string& name, image_files& into);

  /// The images of a folder and of the folders within, in order of folder, then name.
  /// @param shown, told Same as above. @throws dataset_error if there are none.
  [[nodiscard]] static image_files list_all(const std::filesystem::path& root,
                                            const std::filesystem::path& shown, image_folder& told);

 private:
  image_lister(std::filesystem::path root, std::filesystem::path shown, image_folder& told,
               std::vector<std::string> classes);

  /// Adds the images of a folder and of those within. @return Whether there are any.
  bool list_into(const std::filesystem::path& folder, image_files& into);
  /// Lists a folder and the folders within it.
  void list_folder(const std::filesystem::path& folder, unsigned depth,
                   std::map<std::string, std::vector<std::string>>& found);
  void leave_out(const std::filesystem::path& path);
  [[nodiscard]] dataset_error no_class() const;

  std::filesystem::path root_;
  std::filesystem::path shown_;
  image_folder& told_;
  std::vector<std::string> classes_;
  other_files left_out_;  ///< skipped files of the folder, or the class, that is being listed
};

}  // namespace feedline::detail
