#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace feedline::bench {

/// A web server on the loopback device that serves a folder's files in ranges, as fast as the
/// kernel can: each thread has an epoll and a part of the connections, and bodies go by sendfile,
/// without a copy on this side. A process of its own, so that its CPU time is not the client's.
class file_server {
 public:
  struct options {
    std::chrono::microseconds latency = {};  ///< each answer begins this much later
    int threads = 1;
    std::vector<unsigned> cores = {};  ///< cores of the process; empty: as the caller's
  };

  /// @param folder Its files may be made later, and must not change once they were asked for.
  /// @throws std::runtime_error if the server does not start. The caller has no threads.
  file_server(const std::filesystem::path& folder, const options& how);
  file_server(const file_server&) = delete;
  file_server& operator=(const file_server&) = delete;
  ~file_server();

  [[nodiscard]] int port() const noexcept { return port_; }
  [[nodiscard]] std::uint64_t requests() const noexcept { return shared_->requests.load(); }
  [[nodiscard]] std::uint64_t body_bytes() const noexcept { return shared_->bytes.load(); }
  /// CPU time of the process so far.
  [[nodiscard]] double cpu_seconds() const;

  /// Memory that both processes see.
  struct counts {
    std::atomic<std::uint64_t> requests{0}, bytes{0};
  };

 private:
  counts* shared_ = nullptr;
  pid_t child_ = -1;
  int port_ = 0;
};

/// Keeps the calling thread, and those that it starts, on these cores. Nothing if there are none.
void stay_on(const std::vector<unsigned>& cores);
/// Cores that the calling thread may use.
[[nodiscard]] std::vector<unsigned> allowed_cores();

}  // namespace feedline::bench
