#pragma once

#include <feedline/image/folder.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The images that were found. Names lie in one block of memory.
struct image_files {
  struct file {
    std::uint64_t name_end = 0;  ///< in `names`
    std::uint32_t folder = 0;
  };

  std::vector<std::string> folders = {};
  std::vector<file> files = {};
  std::string names = {};  ///< of all files, one behind the other

  [[nodiscard]] std::string path_of(std::uint64_t image) const {
    const file& each = files[image];
    const std::uint64_t begin = image == 0 ? 0 : files[image - 1].name_end;
    std::string path = folders[each.folder] + '/';
    path.append(names, begin, each.name_end - begin);
    return path;
  }
};

/// Finds classes and their images. What is told of the folder goes to `told`.
class image_lister {
 public:
  /// Finds the classes. @throws dataset_error if there is none, or the folder cannot be listed.
  image_lister(std::filesystem::path root, image_folder& told);

  /// Adds a class's images. @throws dataset_error as above.
  void list_class(const std::string& name, image_files& into);

 private:
  /// A folder, and those within.
  void list_folder(const std::filesystem::path& folder, unsigned depth,
                   std::map<std::string, std::vector<std::string>>& found);
  void leave_out(const std::filesystem::path& path);

  std::filesystem::path root_;
  image_folder& told_;
};

}  // namespace feedline::detail
