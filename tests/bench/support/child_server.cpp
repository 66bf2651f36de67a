#include "bench/support/child_server.hpp"

#include "support/http/server.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace feedline::bench {
namespace {

/// Serves until its input ends. Runs in a process of its own. @return Never.
[[noreturn]] void serve(const std::function<void(test::http_server&)>& fill, int out, int until) {
  test::http_server server;
  fill(server);
  const int port = server.port();
  char end = 0;
  const bool is_known = ::write(out, &port, sizeof(port)) == sizeof(port);
  (void)!::read(until, &end, 1);
  ::_exit(is_known ? 0 : 1);
}

}  // namespace

child_server::child_server(const std::function<void(test::http_server&)>& fill) {
  raise_open_files();
  std::array<int, 2> from{};
  std::array<int, 2> to{};
  if (::pipe(from.data()) != 0 || ::pipe(to.data()) != 0) throw std::runtime_error{"no pipe"};
  child_ = ::fork();
  if (child_ == 0) {
    ::close(to[1]);
    serve(fill, from[1], to[0]);
  }
  ::close(from[1]);
  ::close(to[0]);
  ends_ = to[1];
  const bool is_there = ::read(from[0], &port_, sizeof(port_)) == sizeof(port_);
  ::close(from[0]);
  if (!is_there) throw std::runtime_error{"the server does not start"};
}

child_server::~child_server() {
  ::close(ends_);
  int status = 0;
  ::waitpid(child_, &status, 0);
}

void raise_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace feedline::bench
