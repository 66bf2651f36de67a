#pragma once

#include <feedline/remote/mount.hpp>
#include <feedline/remote/statistics.hpp>

#include <chrono>

namespace feedline::test {

/// Options with which a request is made again for its fault alone, and never because a busy machine
/// is slow: requests can be counted.
[[nodiscard]] inline remote_options patient_remote() {
  return {.deadline = std::chrono::seconds{60},
          .stall_after = std::chrono::seconds{50},
          .second_requests = false};
}

/// The same for tests of servers that stall: a request is made again after half a second.
[[nodiscard]] inline remote_options stalling_remote() {
  remote_options options = patient_remote();
  options.stall_after = std::chrono::milliseconds{500};
  return options;
}

/// Mounts remote files, and with the default options again when it goes.
class mounted_remote {
 public:
  explicit mounted_remote(const remote_options& options = patient_remote()) {
    mount_remote_files(options);
  }
  mounted_remote(const mounted_remote&) = delete;
  mounted_remote& operator=(const mounted_remote&) = delete;
  ~mounted_remote() { mount_remote_files(); }
};

}  // namespace feedline::test
