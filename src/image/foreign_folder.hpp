#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace feedline::detail {

/// Files of a folder that are no images, by what their names end in.
class other_files {
 public:
  void add(const std::string& name);
  void clear() { by_ending_.clear(); }
  [[nodiscard]] bool empty() const noexcept { return by_ending_.empty(); }
  /// The commonest: "3 .npy files, such as 'a.npy'". Not empty.
  [[nodiscard]] std::string describe() const;
  /// The commonest ending: ".npy"; empty where names have none. Not empty itself.
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

/// Refuses a folder that is a Zarr store, or whose folders are no classes: images, and masks or
/// annotations beside them.
/// @param folders Names of those within.
/// @throws dataset_error that says what it is, and what to do.
void refuse_foreign_folder(const std::filesystem::path& root,
                           const std::vector<std::string>& folders);

}  // namespace feedline::detail
