/// When the process's limit on open files is raised: in a process of its own for each case, which
/// is its argument. It is raised once in a process.

#include "io/local/file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using feedline::detail::file_access;
using feedline::detail::local_file;

constexpr rlim_t low = 64;
constexpr rlim_t high = 200;

void set_soft_limit(rlim_t soft) {
  const rlimit limits{soft, high};
  if (::setrlimit(RLIMIT_NOFILE, &limits) != 0) std::abort();
}

rlim_t soft_limit() {
  rlimit limits{};
  if (::getrlimit(RLIMIT_NOFILE, &limits) != 0) std::abort();
  return limits.rlim_cur;
}

std::unique_ptr<const local_file> opened(const std::filesystem::path& path,
                                         file_access how = file_access::by_calls) {
  return std::make_unique<const local_file>(path, how, std::chrono::nanoseconds{0});
}

void read(const local_file& file) {
  std::array<std::byte, 4> bytes{};
  file.read(0, bytes);
}

bool holds(std::string_view what, bool condition) {
  if (!condition) std::fprintf(stderr, "not so: %s\n", std::string{what}.c_str());
  return condition;
}

bool is_raised_when_a_file_is_opened_again(const std::filesystem::path& path) {
  std::vector<std::unique_ptr<const local_file>> files;
  while (files.size() < low) files.push_back(opened(path));
  if (!holds("opening files leaves the limit as it is", soft_limit() == low)) return false;
  for (const auto& file : files) read(*file);
  if (!holds("a file that is opened again raises it", soft_limit() == high)) return false;
  set_soft_limit(low);
  for (int round = 0; round < 2; ++round)
    for (const auto& file : files) read(*file);
  return holds("whoever lowers it after that is respected", soft_limit() == low);
}

bool is_left_alone_where_files_are_mapped(const std::filesystem::path& path) {
  std::vector<std::unique_ptr<const local_file>> files;
  while (files.size() < low) files.push_back(opened(path, file_access::mapped));
  for (const auto& file : files)
    if (!holds("it is mapped", !file->mapped().empty())) return false;
  for (const auto& file : files) file->require_unchanged();
  return holds("mapped files leave the limit as it is", soft_limit() == low);
}

bool is_raised_where_none_is_left(const std::filesystem::path& path) {
  while (::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
  read(*opened(path));
  return holds("a file that finds no descriptor raises it", soft_limit() == high);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const auto path =
      std::filesystem::temp_directory_path() / ("feedline-limit-" + std::to_string(::getpid()));
  std::ofstream{path} << "rows";
  set_soft_limit(low);
  const std::string_view when = arguments[1];
  const bool well = when == "opened again" ? is_raised_when_a_file_is_opened_again(path)
                    : when == "mapped"     ? is_left_alone_where_files_are_mapped(path)
                                           : is_raised_where_none_is_left(path);
  std::filesystem::remove(path);
  return well ? 0 : 1;
}
