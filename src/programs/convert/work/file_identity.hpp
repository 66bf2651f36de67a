#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>

namespace convert {

/// Which file or folder something is, whatever it is called.
struct file_identity {
  dev_t device = 0;
  ino_t node = 0;

  friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// Of what a path leads to, through links; nothing if there is nothing.
[[nodiscard]] inline std::optional<file_identity> identity_behind(
    const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return file_identity{found.st_dev, found.st_ino};
}

/// Of what has this name itself, if that is a link.
[[nodiscard]] inline std::optional<file_identity> identity_at(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return file_identity{found.st_dev, found.st_ino};
}

}  // namespace convert
