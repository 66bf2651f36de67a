#include "io/file_watch.hpp"

#include <system_error>

#include <cerrno>
#include <utility>

namespace feedline::detail {

file_watch::identity file_watch::identity_of(const struct stat& status) noexcept {
  return {.device = static_cast<std::uint64_t>(status.st_dev),
          .number = static_cast<std::uint64_t>(status.st_ino),
          .bytes = static_cast<std::uint64_t>(status.st_size),
          .written = std::chrono::seconds{status.st_mtim.tv_sec} +
                     std::chrono::nanoseconds{status.st_mtim.tv_nsec}};
}

file_watch::file_watch(const struct stat& now, std::filesystem::path path, bool by_number)
    : opened_{identity_of(now)}, by_number_{by_number} {
  std::error_code unknown;
  if (!path.empty()) path_ = std::filesystem::absolute(path, unknown);
  if (unknown) path_.clear();
}

std::string file_watch::change_of(int descriptor) const {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    return "cannot be examined any more: " + std::generic_category().message(errno);
  const identity now = identity_of(status);
  if (now.bytes == opened_.bytes && now.written == opened_.written) [[likely]]
    return {};
  if (now.bytes == opened_.bytes) return "was written to since it was opened";
  return std::string{now.bytes < opened_.bytes ? "was cut" : "has grown"} + " from " +
         std::to_string(opened_.bytes) + " to " + std::to_string(now.bytes) +
         " bytes since it was opened";
}

std::string file_watch::change_of_path() const {
  if (path_.empty()) return {};
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ESTALE)
      return "was deleted or moved since it was opened";
    return {};  // short of memory, or a directory that may not be searched any more: no news
  }
  const identity now = identity_of(status);
  if (now.device == opened_.device && now.number == opened_.number) return {};
  if (!by_number_ && now.bytes == opened_.bytes && now.written == opened_.written) return {};
  return "was replaced by another file since it was opened";
}

}  // namespace feedline::detail
