#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace feedline::test {

/// A new, empty directory, which is deleted with its contents when this object is destroyed.
class temporary_directory {
 public:
  /// @throws std::system_error if none can be made.
  temporary_directory();
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  ~temporary_directory();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Writes a file into it, in place of one of that name. @return The file's path.
  std::filesystem::path write(std::string_view name, std::span<const std::byte> bytes) const;

 private:
  std::filesystem::path path_;
};

}  // namespace feedline::test
