#pragma once

#include "io/local/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace convert {

/// Throws the system's last error as a std::system_error: "PATH: WHAT: its words".
[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what);

/// A file that is written at any position, and can be forced to the disk.
///
/// All functions throw std::system_error with the path in its message.
class durable_file {
 public:
  enum class mode : std::uint8_t { create, open };

  /// @param how `create` empties a file that is there; `open` wants one.
  durable_file(std::filesystem::path path, mode how);

  /// Takes disk space for these bytes where the file system can. The file's length stays.
  void reserve(std::uint64_t offset, std::uint64_t bytes) const;
  /// Makes the file that long, and gives back what is reserved after its end.
  void resize(std::uint64_t bytes) const;
  /// Makes the file that long, with disk space for all of it.
  void take(std::uint64_t bytes) const {
    reserve(0, bytes);
    resize(bytes);
  }
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Returns once all that was written is on the disk. The page cache drops it, so that the next
  /// read comes from the disk.
  void sync() const;

 private:
  std::filesystem::path path_;
  feedline::detail::descriptor file_;
};

/// Writes a small file whole, and only then replaces the file of that name.
void replace_file(const std::filesystem::path& path, const std::string& text);

/// Returns once the names in a folder are on the disk.
void sync_folder(const std::filesystem::path& folder);

}  // namespace convert
