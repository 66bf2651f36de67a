#include "programs/inputs/entry.hpp"

#include <feedline/formats/expand_paths.hpp>

#include "io/file_system.hpp"
#ifdef FEEDLINE_HAS_REMOTE
#include "remote/mount_once.hpp"
#endif

#include <system_error>

#include <filesystem>

namespace programs {

using feedline::detail::entry_kind;
using feedline::detail::file_system_of;
using feedline::detail::kind_of_entry;

std::vector<std::string> files_of(const std::string& pattern) {
#ifdef FEEDLINE_HAS_REMOTE
  if (is_address(pattern)) feedline::detail::mount_remote_files_once();
#endif
  return feedline::expand_paths({pattern});
}

bool is_address(const std::string& path) {
  std::error_code ignored;
  return path.find("://") != std::string::npos && !std::filesystem::exists(path, ignored);
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  if (!is_address(path)) return std::filesystem::exists(path, ignored);
  const entry_kind found = kind_of_entry(path);
  if (found == entry_kind::unknown) (void)feedline::detail::open_file(path);  // tells why
  return found != entry_kind::nothing;
}

std::string version_of_address(const std::string& address) {
  if (kind_of_entry(address) != entry_kind::folder)
    return "version " + feedline::detail::open_file(address)->version();
  return std::to_string(file_system_of(address)->list(address).size()) + " entries";
}

}  // namespace programs
