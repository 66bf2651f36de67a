#include "bench/mlperf/serve.hpp"

#include <feedline/error.hpp>

#ifdef FEEDLINE_HAS_REMOTE
#include <feedline/remote/mount.hpp>

#include "bench/support/child_server.hpp"
#include "support/files/file_bytes.hpp"
#include "support/http/server.hpp"
#endif

namespace feedline::bench {

#ifdef FEEDLINE_HAS_REMOTE

void mount_addresses() {
  raise_open_files();
  mount_remote_files();
}

file_server::file_server(const std::filesystem::path& folder) {
  const auto server = std::make_shared<child_server>([&](test::http_server& files) {
    for (const auto& each : std::filesystem::directory_iterator{folder})
      files.put("/" + each.path().filename().string(), test::bytes_of_file(each.path()));
  });
  port_ = server->port();
  server_ = server;
  mount_addresses();
}

#else

void mount_addresses() {
  throw usage_error{"built without remote files (libcurl), which addresses need"};
}

file_server::file_server(const std::filesystem::path& /*folder*/) {
  mount_addresses();
}

#endif

}  // namespace feedline::bench
