#include "programs/convert/work/own_mark.hpp"

#include "programs/convert/work/durable_file.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

namespace convert {
namespace {

namespace fs = std::filesystem;

constexpr auto attribute = "user.feedline.convert";

/// What the mark of a file or folder says as it is now; nothing for anything else.
std::optional<std::string> mark_of(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  std::string mark = "1";
  if (S_ISREG(found.st_mode)) {
    mark += " file " + std::to_string(found.st_size);
  } else if (S_ISDIR(found.st_mode)) {
    mark += " folder";
  } else {
    return std::nullopt;
  }
  return mark + ' ' + std::to_string(found.st_mtim.tv_sec) + '.' +
         std::to_string(found.st_mtim.tv_nsec);
}

bool is_marked(const fs::path& path) {
  const auto wanted = mark_of(path);
  std::array<char, 128> found{};
  const auto size = ::lgetxattr(path.c_str(), attribute, found.data(), found.size());
  return wanted && size > 0 && std::string(found.data(), static_cast<std::size_t>(size)) == *wanted;
}

void mark(const fs::path& path) {
  const auto text = mark_of(path);
  if (!text) return;
  if (::lsetxattr(path.c_str(), attribute, text->data(), text->size(), 0) != 0) {
    if (errno == ENOTSUP) return;
    throw std::system_error{errno, std::generic_category(),
                            path.string() + ": cannot be marked as written by feedline-convert"};
  }
  if (fs::is_directory(path)) {
    sync_folder(path);
  } else {
    durable_file{path, durable_file::mode::open}.sync();
  }
}

}  // namespace

void mark_as_own(const fs::path& path) {
  if (fs::is_directory(path))
    for (const auto& entry : fs::directory_iterator{path}) mark(entry.path());
  mark(path);
}

bool is_marked_as_own(const fs::path& path) {
  if (!is_marked(path)) return false;
  if (!fs::is_directory(path)) return true;
  for (const auto& entry : fs::directory_iterator{path})
    if (entry.symlink_status().type() != fs::file_type::regular || !is_marked(entry.path()))
      return false;
  return true;
}

}  // namespace convert
