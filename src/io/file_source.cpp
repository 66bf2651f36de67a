#include "io/file_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <cerrno>

namespace feedline::detail {
namespace {

std::string last_system_error() {
  return std::generic_category().message(errno);
}

}  // namespace

file_source::file_source(file_field name) : name_{std::move(name)} {
  const auto refuse = [this](const std::string& why) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw dataset_error{{.path = name_.path, .field = name_.field}, why};
  };
  descriptor_ = ::open(name_.path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0)
    refuse("cannot be opened: " + last_system_error() + "; check the path and its permissions");
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) refuse("cannot be examined: " + last_system_error());
  if (S_ISDIR(status.st_mode)) refuse("is a directory; name a file in it");
  if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
}

file_source::~file_source() {
  ::close(descriptor_);
}

std::size_t file_source::read(std::span<std::byte> into) {
  std::size_t count = 0;
  while (count < into.size()) {
    const ssize_t got = ::read(descriptor_, into.data() + count, into.size() - count);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      throw name_.error(offset_, "cannot be read: " + last_system_error());
    }
    count += static_cast<std::size_t>(got);
    offset_ += static_cast<std::uint64_t>(got);
  }
  return count;
}

}  // namespace feedline::detail
