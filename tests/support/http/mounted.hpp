#pragma once

#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>

#include <chrono>

namespace feedline::test {

/// Options with which tests of faults take no longer than they must.
[[nodiscard]] inline remote_options quick_remote() {
  return {.deadline = std::chrono::seconds{20}, .stall_after = std::chrono::milliseconds{200}};
}

/// Mounts remote files, and with the default options again when it goes.
class mounted_remote {
 public:
  explicit mounted_remote(const remote_options& options = quick_remote()) {
    mount_remote_files(options);
  }
  mounted_remote(const mounted_remote&) = delete;
  mounted_remote& operator=(const mounted_remote&) = delete;
  ~mounted_remote() { mount_remote_files(); }
};

}  // namespace feedline::test
