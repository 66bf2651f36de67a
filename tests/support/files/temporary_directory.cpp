#include "support/files/temporary_directory.hpp"

#include <system_error>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace feedline::test {

temporary_directory::temporary_directory() {
  std::string name = std::filesystem::temp_directory_path() / "feedline-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error{errno, std::generic_category(), name};
  path_ = name;
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path temporary_directory::write(std::string_view name,
                                                 std::span<const std::byte> bytes) const {
  auto path = path_ / name;
  std::ofstream file{path, std::ios::binary | std::ios::trunc};
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error{"cannot write " + path.string()};
  return path;
}

}  // namespace feedline::test
