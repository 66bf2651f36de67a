#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace feedline::detail {

/// Files of a folder that are not images, counted by the ending of their names.
class other_files {
 public:
  void add(const std::string& name);
  void clear() { by_ending_.clear(); }
  [[nodiscard]] bool empty() const noexcept { return by_ending_.empty(); }
  /// The most frequent ending: "3 .npy files, such as 'a.npy'". Must not be empty.
  [[nodiscard]] std::string describe() const;
  /// The most frequent ending: ".npy"; empty if the names have none. The object must not be empty.
  [[nodiscard]] const std::string& ending() const { return commonest()->first; }

 private:
  struct files {
    std::uint64_t count = 0;
    std::string example;
  };
  using map = std::map<std::string, files>;

  [[nodiscard]] map::const_iterator commonest() const;

  map by_ending_;
};

/// Refuses a folder that is a Zarr store, or whose folders are not classes but images, and masks or
/// annotations for them.
/// @param folders Names of the folders within.
/// @throws dataset_error that says what the folder is, and what to do.
void refuse_foreign_folder(const std::filesystem::path& root,
                           const std::vector<std::string>& folders);

}  // namespace feedline::detail
