#include "bench/mlperf/serve.hpp"

#include <feedline/error.hpp>

#ifdef FEEDLINE_HAS_REMOTE
#include <feedline/remote/mount.hpp>

#include "support/files/file_bytes.hpp"
#include "support/http/server.hpp"

#include <stdexcept>
#endif

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace feedline::bench {

#ifdef FEEDLINE_HAS_REMOTE

namespace {

/// Serves until its input ends. Runs in a process of its own. @return Never.
[[noreturn]] void serve(const std::filesystem::path& folder, int out, int until) {
  test::http_server server;
  for (const auto& each : std::filesystem::directory_iterator{folder})
    server.put("/" + each.path().filename().string(), test::bytes_of_file(each.path()));
  const int port = server.port();
  char end = 0;
  const bool is_known = ::write(out, &port, sizeof(port)) == sizeof(port);
  (void)!::read(until, &end, 1);
  ::_exit(is_known ? 0 : 1);
}

/// Each connection is an open file, on both sides.
void raise_open_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

void mount_addresses() {
  raise_open_files();
  mount_remote_files();
}

file_server::file_server(const std::filesystem::path& folder) {
  raise_open_files();
  int from[2];  // NOLINT(modernize-avoid-c-arrays)
  int to[2];    // NOLINT(modernize-avoid-c-arrays)
  if (::pipe(from) != 0 || ::pipe(to) != 0) throw std::runtime_error{"no pipe"};
  child_ = ::fork();
  if (child_ == 0) {
    ::close(to[1]);
    serve(folder, from[1], to[0]);
  }
  ::close(from[1]);
  ::close(to[0]);
  ends_ = to[1];
  const bool is_there = ::read(from[0], &port_, sizeof(port_)) == sizeof(port_);
  ::close(from[0]);
  if (!is_there) throw std::runtime_error{"the server does not start"};
  mount_addresses();
}

file_server::~file_server() {
  ::close(ends_);
  int status = 0;
  ::waitpid(child_, &status, 0);
}

#else

void mount_addresses() {
  throw usage_error{"built without remote files (libcurl), which addresses need"};
}

file_server::file_server(const std::filesystem::path& /*folder*/) {
  mount_addresses();
}

file_server::~file_server() = default;

#endif

}  // namespace feedline::bench
