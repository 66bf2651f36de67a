#pragma once

#include "io/file_system.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// Files of this machine, as if they were stored elsewhere: never mapped, always cold, with no
/// path of their own. A test sees each read, and may delay it or make it fail.
class standin_files final : public detail::file_system,
                            public std::enable_shared_from_this<standin_files> {
 public:
  /// Called before a part of a file is read, by its reader. It may wait, or throw.
  using hook = std::function<void(const detail::byte_file& file, const detail::byte_read& part)>;

  /// The parts of one call of `do_read`: offset and bytes.
  using call = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  [[nodiscard]] detail::byte_file_ptr open(const std::string& path,
                                           detail::file_access how) const override;
  [[nodiscard]] detail::entry_kind kind_of(const std::string& path) const noexcept override;
  [[nodiscard]] std::vector<detail::folder_entry> list(const std::string& folder) const override;

  void set_hook(hook before) { before_ = std::move(before); }

  /// All reads so far, and from now on none. Any thread.
  [[nodiscard]] std::vector<call> take_calls() const;
  /// The ranges of all hints so far, and from now on none. Any thread.
  [[nodiscard]] std::vector<call> take_hints() const;

 private:
  class file;

  hook before_;
  mutable std::mutex mutex_;
  mutable std::vector<call> calls_;
  mutable std::vector<call> hints_;
};

/// Mounts such files under "standin" while it lives.
class mounted_standin {
 public:
  mounted_standin() { detail::mount_files("standin", files_); }
  mounted_standin(const mounted_standin&) = delete;
  mounted_standin& operator=(const mounted_standin&) = delete;
  ~mounted_standin() { detail::mount_files("standin", nullptr); }

  standin_files* operator->() const noexcept { return files_.get(); }
  [[nodiscard]] standin_files& files() const noexcept { return *files_; }

  /// The address of a file or folder of this machine.
  [[nodiscard]] static std::string address_of(const std::filesystem::path& path) {
    return "standin://" + path.string();
  }

 private:
  std::shared_ptr<standin_files> files_ = std::make_shared<standin_files>();
};

}  // namespace feedline::test
