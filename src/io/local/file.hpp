#pragma once

#include "detail/rate_limiter.hpp"
#include "io/byte_file.hpp"
#include "io/local/descriptor.hpp"
#include "io/local/kept_descriptor.hpp"
#include "io/local/watch.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace feedline::detail {

class file_mapping;

/// A regular file of this machine.
///
/// Its bytes are mapped where that is faster and safe (they are in memory, the file system is
/// a local one) and `map_files` allows it, and read by `pread` else; `mapped()` says which.
///
/// There may be any number of these, whatever the limit on open files: a file's descriptor may be
/// closed while it is not in use, and the file is opened again by its path (`kept_descriptor`). A
/// mapped file needs no descriptor.
class local_file final : public byte_file {
 public:
  /// How often the file's path is checked; every tenth time also how much of it is in memory.
  static constexpr std::chrono::nanoseconds look_every = std::chrono::milliseconds{100};

  /// @throws dataset_error if it cannot be opened, or is a directory or other non-regular file; it
  /// says what to do.
  explicit local_file(const std::filesystem::path& path, file_access how = file_access::automatic,
                      std::chrono::nanoseconds look = look_every);
  ~local_file() override;

  [[nodiscard]] std::span<const std::byte> mapped() const noexcept override;

  /// Costs some hundred nanoseconds. Whether the file was replaced or is missing under its path is
  /// checked every tenth of a second at most; if its descriptor is closed, it is checked under its
  /// path each time.
  void require_unchanged() const override;
  /// Device, inode, size and time of the last change; size and time if the file system does not
  /// keep inode numbers.
  [[nodiscard]] std::string version() const override { return watch_.version(); }

  [[nodiscard]] bool is_cold() const noexcept override;
  [[nodiscard]] std::string local_path() const override { return name(); }

 private:
  local_file(descriptor file, const std::filesystem::path& path, file_access how,
             std::chrono::nanoseconds look);
  local_file(const file_watch& watch, descriptor file, const std::filesystem::path& path,
             file_access how, std::chrono::nanoseconds look);

  void do_read(std::span<const byte_read> parts) const override;
  void do_will_need(std::span<const byte_range> ranges) const noexcept override;

  /// Checks path and memory if that has not been done for a while.
  void look_at_times() const noexcept;
  void look_at_path() const noexcept;
  void look_at_memory() const noexcept;
  [[nodiscard]] double share_in_memory() const noexcept;
  /// The open file. @throws dataset_error
  [[nodiscard]] kept_descriptor::use taken() const;

  const file_watch watch_;
  kept_descriptor file_;
  std::unique_ptr<const file_mapping> mapping_;  ///< null: always read by calls
  bool always_mapped_ = false;

  mutable rate_limiter look_;
  mutable rate_limiter look_at_memory_;  ///< more rarely: it takes as long as fifty looks at a path
  mutable std::atomic<bool> use_mapping_{false};
  mutable std::atomic<bool> cold_{true};
  mutable std::atomic<bool> gone_{false};  ///< another file, or none, was seen under the path
};

}  // namespace feedline::detail
