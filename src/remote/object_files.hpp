#pragma once

#include "io/file_system.hpp"
#include "remote/object_file.hpp"
#include "remote/request/own_state.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace feedline::detail {

/// Objects that were opened in the last 2 s. Opening a data set asks for the kind of a path, its
/// first bytes and the file in a row; these are one request. So an object that is written again at
/// once is still found in its earlier version, until files are mounted again. Any thread.
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
  struct state {
    std::mutex mutex;
    std::map<std::string, entry> entries;  ///< keys are paths

    void drop_old();
  };

  own_state<state> state_;
};

/// The common part of kinds of servers: opens objects by their addresses.
class object_files : public file_system {
 public:
  /// @param cache Null: nothing is kept.
  object_files(std::uint64_t max_ahead_bytes, std::shared_ptr<const cache_setting> cache)
      : max_ahead_bytes_{max_ahead_bytes}, cache_{std::move(cache)} {}
  ~object_files() override;

  [[nodiscard]] byte_file_ptr open(const std::string& path, file_access how) const override;
  /// Makes one request, unless the file is large. None if it was opened lately and is small: it has
  /// the version of that opening.
  [[nodiscard]] whole_file read_whole(const std::string& path, const room& memory) const override;
  /// Opens it ahead, once an object was seen to be far: its bytes come with that.
  void will_need_whole(const std::string& path, std::uint64_t max_bytes) const noexcept override;

 protected:
  /// @throws dataset_error if the path names no object.
  [[nodiscard]] virtual remote_target target_of(const std::string& path) const = 0;

  /// Null if it cannot be opened: `fault` says why. @throws dataset_error
  [[nodiscard]] std::shared_ptr<const object_file> try_open(const std::string& path,
                                                            answer_verdict& fault) const;
  /// @throws dataset_error that says so
  [[noreturn]] static void refuse(const std::string& path, const answer_verdict& fault);

 private:
  [[nodiscard]] object_access access_to(const std::string& path) const;
  /// One that was hinted. @return False: it was not.
  [[nodiscard]] bool read_ahead(const std::string& path, const room& memory,
                                std::span<const std::byte>& out) const;

  const std::uint64_t max_ahead_bytes_;
  const std::shared_ptr<const cache_setting> cache_;
  mutable recent_objects recent_;
  mutable std::atomic<bool> is_far_{false};  ///< whether the last opened object is
};

}  // namespace feedline::detail
