#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace feedline::test {

/// All bytes of a file; throws if it cannot be read.
[[nodiscard]] inline std::vector<std::byte> bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::filesystem::file_size(path)));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error{"cannot read " + path.string()};
  return bytes;
}

}  // namespace feedline::test
