#pragma once

#include "io/byte_file.hpp"
#include "io/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::detail {

/// The kind of an entry under a path. `pipe`: it can be read only once, and in its own order.
/// `unknown`: something else, or it cannot be examined; opening it gives the reason.
enum class entry_kind : std::uint8_t { nothing, file, folder, pipe, unknown };

/// An entry of a folder. A link counts as what it leads to.
struct folder_entry {
  std::string name;
  bool is_folder = false;
  std::optional<std::uint64_t> bytes = {};  ///< size of a file, if the list tells it
};

/// A whole file's bytes, and whether they had to be waited for.
struct whole_file {
  std::span<const std::byte> bytes;
  bool was_in_memory = true;
};

/// A kind of storage: opens and lists its files. All code that looks for files or opens them does
/// so here, so that a new kind is one room that derives from this class and `byte_file`.
///
/// Paths are complete, with their scheme. Threads: all functions may be called by any number of
/// threads.
class file_system {
 public:
  /// Provides memory for a number of bytes.
  using room = std::function<std::span<std::byte>(std::size_t)>;
  /// The largest file that `read_whole` reads.
  static constexpr std::uint64_t max_whole_bytes = std::uint64_t{1} << 30;

  file_system() = default;
  file_system(const file_system&) = delete;
  file_system& operator=(const file_system&) = delete;
  virtual ~file_system() = default;

  /// @throws dataset_error if it cannot be opened, or is a folder or a pipe; it says what to do.
  [[nodiscard]] virtual byte_file_ptr open(const std::string& path,
                                           file_access how = file_access::automatic) const = 0;
  [[nodiscard]] virtual entry_kind kind_of(const std::string& path) const noexcept = 0;
  /// The entries of a folder, in any order. @param folder May end in '/'.
  /// @throws dataset_error if it cannot be listed.
  [[nodiscard]] virtual std::vector<folder_entry> list(const std::string& folder) const = 0;

  /// A file's bytes, from the first on, each once: pipes may be read so, too.
  /// @throws dataset_error if it cannot be opened, or is a folder.
  [[nodiscard]] virtual std::unique_ptr<byte_source> stream(const file_field& name) const;

  // The rest is for folders of many small files, each of which is read at once.

  /// Reads a file from its beginning to its end, or as much as there is memory for.
  /// @throws dataset_error naming the file: unreadable, no file, larger than `max_whole_bytes`, cut
  ///         short meanwhile.
  [[nodiscard]] virtual whole_file read_whole(const std::string& path, const room& memory) const;
  /// The same for a file whose size is known from before: often saves a call of the system.
  /// @param out Has room for `bytes` bytes, at least; holds the file if it still has this size.
  ///        Otherwise `memory` is asked, which may give the same memory.
  [[nodiscard]] virtual whole_file read_expected(const std::string& path, std::span<std::byte> out,
                                                 std::size_t bytes, const room& memory) const {
    (void)out;
    (void)bytes;
    return read_whole(path, memory);
  }
  /// Asks for a file to be brought near. Returns without waiting for it.
  /// @param max_bytes About the most that it has; 0: unknown.
  virtual void will_need_whole(const std::string& path, std::uint64_t max_bytes) const noexcept {
    (void)path;
    (void)max_bytes;
  }
  /// In bytes; 0 if it cannot be told.
  [[nodiscard]] virtual std::uint64_t size_of(const std::string& path) const noexcept;
};

using file_system_ptr = std::shared_ptr<const file_system>;

/// The file system of this machine. Defined in `io/local`.
[[nodiscard]] const file_system& local_files() noexcept;

/// The file system of a path: the one that is mounted under its scheme ("store" in "store://x/y"),
/// else that of this machine.
/// @throws dataset_error if the path is an address of a kind that is not supported; it says what to
///         do.
[[nodiscard]] file_system_ptr file_system_of(const std::string& path);

/// From now on paths that begin with `scheme` and "://" are the file system's. @param files Null:
/// the scheme is no longer known; files that are open stay so.
void mount_files(const std::string& scheme, file_system_ptr files);

/// Opens a file in the file system of its path. @throws dataset_error
[[nodiscard]] byte_file_ptr open_file(const std::string& path,
                                      file_access how = file_access::automatic);
/// The kind of the entry under a path. @throws dataset_error like `file_system_of`.
[[nodiscard]] entry_kind kind_of_entry(const std::string& path);
/// `file_system::stream` in the file system of its path. @throws dataset_error
[[nodiscard]] std::unique_ptr<byte_source> open_stream(const file_field& name);

/// Files and folders that match a pattern of `*`, `?` and `[…]`, as glob(7) defines them, sorted by
/// bytes; empty if there is none. Hidden ones match only a pattern that begins with a dot.
/// @throws dataset_error if a folder that the pattern goes through cannot be listed.
[[nodiscard]] std::vector<std::string> match_files(const std::string& pattern);

}  // namespace feedline::detail
