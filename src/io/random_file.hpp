#pragma once

#include <feedline/error.hpp>

#include "detail/rate_limiter.hpp"
#include "io/descriptor.hpp"
#include "io/file_watch.hpp"
#include "io/kept_descriptor.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace feedline::detail {

class file_mapping;

/// A regular file that is read at any offset by any number of threads, and that others may cut,
/// overwrite, replace or delete meanwhile: that ends in a `dataset_error`, never in a signal.
///
/// Its bytes are mapped where that is faster and safe (they are in memory, the file system is
/// a local one) and `map_files` allows it, and read by `pread` else; `mapped()` says which. It may
/// change while the file is in use, so callers ask once a run of samples.
///
/// There may be any number of these, whatever the limit on open files: a file's descriptor may be
/// closed while it is not in use, and the file is opened again by its path (`kept_descriptor`). A
/// mapped file needs no descriptor.
///
/// Threads: all functions may be called by any number of threads.
class random_file {
 public:
  /// How a file is read; `automatic` decides by the file system and by how much is in memory.
  enum class access : std::uint8_t { automatic, mapped, by_pread };

  /// How often the file's path is checked; every tenth time also how much of it is in memory.
  static constexpr std::chrono::nanoseconds look_every = std::chrono::milliseconds{100};

  /// @throws dataset_error if it cannot be opened, or is a directory or other non-regular file; it
  /// says what to do.
  explicit random_file(const std::filesystem::path& path, access how = access::automatic,
                       std::chrono::nanoseconds look = look_every);
  /// A file that is open already, and may be closed by its owner. @param path Names it in errors,
  /// and is watched; may be empty.
  random_file(int number, const std::filesystem::path& path, access how = access::automatic,
              std::chrono::nanoseconds look = look_every);
  random_file(const random_file&) = delete;
  random_file& operator=(const random_file&) = delete;
  ~random_file();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// A descriptor for others to read by, open from now on as long as this is.
  /// @throws dataset_error if it was closed meanwhile, and the file cannot be opened again.
  [[nodiscard]] int number() const;
  /// When it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// The file's bytes in memory, or nothing if they must be read by `read` at present. Lost bytes
  /// read as zeros, so a caller that copied from here must call `require_unchanged` before it
  /// passes on the copy. They keep their address for the file's life.
  [[nodiscard]] std::span<const std::byte> mapped() const noexcept;

  /// Reads bytes [offset, offset + out.size()): all, or it throws.
  /// @throws dataset_error with the path and the offset: beyond the end, cut short since it was
  ///         opened, an input error.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  /// @throws dataset_error if the file differs from its state when it was opened: cut, written to,
  ///         or (checked every tenth of a second at most) replaced or missing under its path. Costs
  ///         some hundred nanoseconds. If its descriptor is closed, it is checked under its path
  ///         each time.
  void require_unchanged() const;

  /// Whether hints are useful: much of the file is not in memory. Checked again at times.
  [[nodiscard]] bool is_cold() const noexcept;
  /// Asks the system to bring bytes into memory. Returns without waiting for them.
  void will_need(std::uint64_t offset, std::uint64_t bytes) const noexcept;

 private:
  random_file(descriptor file, const std::filesystem::path& path, access how,
              std::chrono::nanoseconds look);

  [[nodiscard]] dataset_error error(std::optional<std::uint64_t> offset,
                                    const std::string& message) const;
  /// Checks path and memory if that has not been done for a while.
  void look_at_times() const noexcept;
  void look_at_path() const noexcept;
  void look_at_memory() const noexcept;
  [[nodiscard]] double share_in_memory() const noexcept;
  /// The open file. @throws dataset_error
  [[nodiscard]] kept_descriptor::use taken() const;

  const std::string path_;
  std::uint64_t size_ = 0;
  std::optional<file_watch> watch_;
  std::optional<kept_descriptor> file_;
  std::unique_ptr<const file_mapping> mapping_;  ///< null: always read by calls
  bool always_mapped_ = false;

  mutable rate_limiter look_;
  mutable rate_limiter look_at_memory_;  ///< more rarely: it takes as long as fifty looks at a path
  mutable std::atomic<bool> use_mapping_{false};
  mutable std::atomic<bool> cold_{true};
  mutable std::atomic<bool> stays_open_{false};  ///< `number` was asked for
  mutable std::atomic<bool> gone_{false};        ///< another file, or none, was seen under the path
};

using random_file_ptr = std::shared_ptr<const random_file>;

}  // namespace feedline::detail
