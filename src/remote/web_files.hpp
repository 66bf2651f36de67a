#pragma once

#include "io/file_system.hpp"
#include "remote/object_file.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace feedline::detail {

/// Objects that were opened lately. Opening a data set asks for the kind of a path, its first bytes
/// and the file in a row; these are one request. Any thread.
class recent_objects {
 public:
  /// Null if there is none, or if it is known to have changed since.
  [[nodiscard]] std::shared_ptr<const object_file> find(const std::string& path);
  void add(const std::string& path, std::shared_ptr<const object_file> opened);

 private:
  struct entry {
    std::shared_ptr<const object_file> file;
    std::chrono::steady_clock::time_point opened;
  };
  void drop_old();

  std::mutex mutex_;
  std::map<std::string, entry> entries_;
};

/// Files of web servers. They cannot be listed.
class web_files final : public file_system {
 public:
  /// @param target Without an address.
  explicit web_files(remote_target target, std::uint64_t max_ahead_bytes)
      : target_{std::move(target)}, max_ahead_bytes_{max_ahead_bytes} {}

  [[nodiscard]] byte_file_ptr open(const std::string& path, file_access how) const override;
  [[nodiscard]] entry_kind kind_of(const std::string& path) const noexcept override;
  [[nodiscard]] std::vector<folder_entry> list(const std::string& folder) const override;

 private:
  [[nodiscard]] std::shared_ptr<const object_file> try_open(const std::string& path,
                                                            answer_verdict& fault) const;

  const remote_target target_;
  const std::uint64_t max_ahead_bytes_;
  mutable recent_objects recent_;
};

}  // namespace feedline::detail
