#pragma once

#include <sys/types.h>

#include <functional>

namespace feedline::test {
class http_server;
}  // namespace feedline::test

namespace feedline::bench {

/// A web server on the loopback device, in a process of its own, so that its CPU time is not the
/// client's.
class child_server {
 public:
  /// @param fill Puts the objects, in the other process. @throws std::runtime_error if the server
  /// does not start.
  explicit child_server(const std::function<void(test::http_server&)>& fill);
  child_server(const child_server&) = delete;
  child_server& operator=(const child_server&) = delete;
  ~child_server();

  [[nodiscard]] int port() const noexcept { return port_; }

 private:
  pid_t child_ = -1;
  int ends_ = -1;
  int port_ = 0;
};

/// Raises this process's limit of open files: each connection is one, on both sides.
void raise_open_files();

}  // namespace feedline::bench
