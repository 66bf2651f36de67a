#include "support/files/test_data.hpp"

#include <system_error>

#include <cstdlib>

namespace feedline::test {

std::optional<std::filesystem::path> find_test_data(const std::filesystem::path& relative) {
  const char* named = std::getenv("FEEDLINE_TEST_DATA");
  const std::filesystem::path folder =
      named != nullptr ? std::filesystem::path{named}
                       : std::filesystem::path{FEEDLINE_SOURCE_DIR}.parent_path() / "shared/data";
  std::error_code ignored;
  const auto path = folder / relative;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return path;
}

std::filesystem::path fixture(const std::filesystem::path& relative) {
  return std::filesystem::path{FEEDLINE_SOURCE_DIR} / "tests/fixtures" / relative;
}

}  // namespace feedline::test
