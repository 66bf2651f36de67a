#pragma once

#include "pipeline/stored_formats.hpp"
#include "support/http/mounted.hpp"
#include "support/http/server.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

/// Files of every format, served by a web server.

namespace feedline::test {

inline std::vector<std::byte> content_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  const std::vector<char> read{std::istreambuf_iterator<char>{file}, {}};
  const auto bytes = std::as_bytes(std::span{read});
  return {bytes.begin(), bytes.end()};
}

/// Serves all files of a folder. @return The address of a path in it.
inline std::string serve(http_server& server, const temporary_directory& folder, std::string path) {
  for (const auto& each : std::filesystem::directory_iterator{folder.path()})
    server.put("/" + each.path().filename().string(), content_of(each.path()));
  path = "/" + std::filesystem::path{path}.filename().string();
  if (path == "/shard-*.tar") path = "/shard-{1..1}.tar";  // web servers have no lists
  return server.address(path);
}

inline std::vector<stored_format> all_formats() {
  std::vector<stored_format> formats = read_later();
  for (const stored_format& each : read_at_once()) formats.push_back(each);
  return formats;
}

}  // namespace feedline::test
