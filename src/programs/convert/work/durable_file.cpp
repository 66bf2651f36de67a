#include "programs/convert/work/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace convert {
namespace fs = std::filesystem;

std::optional<file_identity> identity_behind(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return file_identity{found.st_dev, found.st_ino};
}

std::optional<file_identity> identity_at(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
  return file_identity{found.st_dev, found.st_ino};
}

void fail(const fs::path& path, const std::string& what) {
  throw std::system_error{errno, std::generic_category(), path.string() + ": " + what};
}

durable_file::durable_file(fs::path path, mode how)
    : path_{std::move(path)},
      descriptor_{
          ::open(path_.c_str(),
                 how == mode::create ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDWR | O_CLOEXEC,
                 0666)} {
  if (descriptor_ < 0) fail(path_, "cannot be opened for writing");
}

durable_file::durable_file(durable_file&& other) noexcept
    : path_{std::move(other.path_)}, descriptor_{std::exchange(other.descriptor_, -1)} {}

durable_file::~durable_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void durable_file::reserve(std::uint64_t bytes) const {
  take_room(0, 0, bytes);
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0)
    fail(path_, "cannot be made " + std::to_string(bytes) + " bytes long");
}

void durable_file::reserve_room(std::uint64_t offset, std::uint64_t bytes) const {
  take_room(FALLOC_FL_KEEP_SIZE, offset, bytes);
}

void durable_file::release_room() const {
  struct stat found {};
  if (::fstat(descriptor_, &found) != 0 || ::ftruncate(descriptor_, found.st_size) != 0)
    fail(path_, "cannot give back the room behind its end");
}

void durable_file::take_room(int flags, std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return;
  const auto take = [&] {
    return ::fallocate(descriptor_, flags, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  };
  int taken = take();
  while (taken != 0 && errno == EINTR) taken = take();
  if (taken == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) {
    struct statvfs room {};
    if (::fstatvfs(descriptor_, &room) != 0 || room.f_bavail >= bytes / room.f_frsize) return;
    errno = ENOSPC;
  }
  const bool is_full = errno == ENOSPC || errno == EDQUOT;
  fail(path_,
       (is_full ? "there is no room on the disk for " : "the file system refuses to store ") +
           std::to_string(bytes) + " bytes");
}

void durable_file::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot be written to at byte " + std::to_string(offset));
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void durable_file::sync() const {
  if (::fsync(descriptor_) != 0) fail(path_, "could not be brought to the disk");
  (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED);  // a wish
}

void replace_file(const fs::path& path, const std::string& text) {
  const fs::path written = path.string() + ".new";
  {
    const durable_file file{written, durable_file::mode::create};
    file.write(0, std::as_bytes(std::span{text}));
    file.sync();
  }
  rename_durably(written, path);
}

void rename_durably(const fs::path& from, const fs::path& to) {
  fs::rename(from, to);
  sync_folder(fs::absolute(to).parent_path());
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  errno = error;
  if (!synced && error != EINVAL)  // what some file systems say who need none
    fail(folder, "could not be brought to the disk");
}

}  // namespace convert
