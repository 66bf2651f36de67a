#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace feedline::bench {

/// A web server on the loopback device that has the files of a folder in its memory. It is a
/// process of its own, so that its CPU time is not the loader's.
class file_server {
 public:
  /// Files are opened by their addresses from now on. @throws usage_error in a build without remote
  /// files; std::runtime_error if it does not start.
  explicit file_server(const std::filesystem::path& folder);

  [[nodiscard]] std::string address() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  std::shared_ptr<const void> server_;
  int port_ = 0;
};

/// Files are also opened by addresses from now on.
/// @throws usage_error in a build without remote files.
void mount_addresses();

}  // namespace feedline::bench
