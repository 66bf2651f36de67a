#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace feedline::detail {

/// Whether an open file is on a file system of this machine: its pages stay valid once read, and
/// its inode numbers identify files. False for networks, for file systems run by a program (FUSE),
/// and for unknown ones.
[[nodiscard]] bool is_on_local_file_system(int descriptor) noexcept;

/// The share of a file that is in memory, 0 to 1, estimated from samples spread over it: takes
/// about ten microseconds, whatever its size. Nothing if the system does not tell.
[[nodiscard]] std::optional<double> resident_share(int descriptor, std::uint64_t bytes) noexcept;

/// The two ways to know it. cachestat(2), of Linux 6.5 and newer, refuses files that the caller
/// does not own and may not write. (mincore(2) would say of these that all is in memory.)
[[nodiscard]] std::optional<double> resident_share_by_cachestat(int descriptor,
                                                                std::uint64_t bytes) noexcept;
/// Estimates it by reading single bytes at random offsets that the system may refuse if it would
/// have to wait: for local file systems. Refused bytes are read in nevertheless, so the offsets
/// differ each time. Bytes that a fast disk delivers before the system refuses count as in memory.
[[nodiscard]] std::optional<double> resident_share_by_reads(int descriptor,
                                                            std::uint64_t bytes) noexcept;

/// Ends the message about a file that has changed.
inline constexpr const char* stay_advice =
    "; a file must stay as it is while it is read: open it again";

/// Checks whether an open file is unchanged, and still found under its path. Any thread.
class file_watch {
 public:
  /// @param now  The file's status, at opening.
  /// @param path Where it was opened; empty: its path is not looked at.
  /// @param by_number Whether its file system keeps inode numbers, by which it is known; if not,
  ///        a file of the same size and time is taken for the same.
  file_watch(const struct stat& now, std::filesystem::path path, bool by_number);

  /// The file's absolute path, or empty.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Size at opening, in bytes.
  [[nodiscard]] std::uint64_t size() const noexcept {
    return static_cast<std::uint64_t>(opened_.st_size);
  }
  /// Whether its file system keeps inode numbers.
  [[nodiscard]] bool is_by_number() const noexcept { return by_number_; }
  /// Like `byte_file::version`.
  [[nodiscard]] std::string version() const;

  /// The change of the open file, as text; empty: none.
  [[nodiscard]] std::string change_of(int descriptor) const;
  /// The change of the path, as text; empty: none.
  [[nodiscard]] std::string change_of_path() const;
  /// Both at once, without a descriptor: the change of the file, as far as its path tells. An error
  /// if it cannot be examined there. The path must not be empty.
  [[nodiscard]] std::string change_of_file_there() const;
  /// The same of a file that was opened again by its path. @param now Its status.
  [[nodiscard]] std::string change_to(const struct stat& now) const;

 private:
  [[nodiscard]] bool is_same_file(const struct stat& now) const noexcept;
  [[nodiscard]] std::string words_for(const struct stat& now) const;

  std::filesystem::path path_;  ///< absolute: the working directory may change
  struct stat opened_;
  bool by_number_;
};

}  // namespace feedline::detail
