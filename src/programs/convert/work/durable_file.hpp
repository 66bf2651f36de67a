#pragma once

#include "io/descriptor.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace convert {

/// Which file or folder something is, whatever it is called.
struct file_identity {
  dev_t device = 0;
  ino_t node = 0;

  friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// Of what a path leads to, through links; nothing if there is nothing.
[[nodiscard]] std::optional<file_identity> identity_behind(const std::filesystem::path& path);

/// Of what has this name itself, if that is a link.
[[nodiscard]] std::optional<file_identity> identity_at(const std::filesystem::path& path);

/// Throws the system's last error as a std::system_error: "PATH: WHAT: its words".
[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what);

/// A file that is written at any place, and of which one can know that it is on the disk.
///
/// All functions throw std::system_error with the path in its message.
class durable_file {
 public:
  enum class mode : std::uint8_t { create, open };

  /// @param how `create` empties a file that is there; `open` wants one.
  durable_file(std::filesystem::path path, mode how);

  /// Makes the file that long, and takes the disk space for it now where the file system can.
  /// Where it can only say how much room there is, as much must be there.
  void reserve(std::uint64_t bytes) const;
  /// As `reserve`, for bytes that somebody else will write. @param flags Of `fallocate`: so that
  /// the file's length stays.
  void reserve_room(std::uint64_t offset, std::uint64_t bytes,
                    int flags = FALLOC_FL_KEEP_SIZE) const;
  /// Gives back what was reserved beyond the file's end.
  void release_room() const;
  void write(std::uint64_t offset, std::span<const std::byte> bytes) const;
  /// Returns once all that was written is on the disk, and forgets it, so that who reads it next
  /// gets what the disk has.
  void sync() const;

 private:
  std::filesystem::path path_;
  feedline::detail::descriptor file_;
};

/// A whole small file, put in the place of one of that name at once or not at all.
void replace_file(const std::filesystem::path& path, const std::string& text);

/// As `std::filesystem::rename`, and on the disk when it returns.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

/// Returns once the names in a folder are on the disk.
void sync_folder(const std::filesystem::path& folder);

}  // namespace convert
