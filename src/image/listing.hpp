#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// Which images a folder holds, by class. Constant once made; names lie in one block of memory.
class image_listing {
 public:
  static constexpr std::size_t max_examples = 10;

  /// @throws dataset_error: see `open_image_folder`.
  explicit image_listing(const std::filesystem::path& root);

  [[nodiscard]] std::uint64_t size() const noexcept { return files_.size(); }
  [[nodiscard]] const std::vector<std::string>& classes() const noexcept { return classes_; }
  [[nodiscard]] std::uint64_t skipped_files() const noexcept { return skipped_files_; }
  [[nodiscard]] const std::vector<std::string>& examples() const noexcept { return examples_; }

  /// Writes an image's path into `out`.
  void path_of(std::uint64_t image, std::string& out) const;
  [[nodiscard]] std::uint32_t class_of(std::uint64_t image) const noexcept;

 private:
  struct file {
    std::uint64_t name_end = 0;  ///< in `names_`
    std::uint32_t folder = 0;
  };

  /// The images of one folder.
  struct folder_files {
    std::string folder;
    std::vector<std::string> names;
  };

  void list_class(const std::filesystem::path& folder);
  void list_folder(const std::filesystem::path& folder, unsigned depth,
                   std::vector<folder_files>& found);
  void leave_out(const std::filesystem::path& path);

  std::filesystem::path root_;
  std::vector<std::string> classes_;
  std::vector<std::uint64_t> class_ends_;  ///< images of all classes up to each
  std::vector<std::string> folders_;
  std::vector<file> files_;
  std::string names_;  ///< of all files, one behind the other
  std::uint64_t skipped_files_ = 0;
  std::vector<std::string> examples_;
};

}  // namespace feedline::detail
