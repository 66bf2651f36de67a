#include "programs/convert/work/durable_file.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>

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
      file_{::open(path_.c_str(),
                   O_RDWR | O_CLOEXEC | (how == mode::create ? O_CREAT | O_TRUNC : 0), 0666)} {
  if (file_.number() < 0) fail(path_, "cannot be opened for writing");
}

void durable_file::reserve(std::uint64_t bytes) const {
  reserve_room(0, bytes, 0);
  if (::ftruncate(file_.number(), static_cast<off_t>(bytes)) != 0)
    fail(path_, "cannot be made " + std::to_string(bytes) + " bytes long");
}

void durable_file::reserve_room(std::uint64_t offset, std::uint64_t bytes, int flags) const {
  if (bytes == 0) return;
  const auto take = [&] {
    return ::fallocate(file_.number(), flags, static_cast<off_t>(offset),
                       static_cast<off_t>(bytes));
  };
  int taken = take();
  while (taken != 0 && errno == EINTR) taken = take();
  if (taken == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) {
    struct statvfs room {};
    if (::fstatvfs(file_.number(), &room) != 0 || room.f_bavail >= bytes / room.f_frsize) return;
    errno = ENOSPC;
  }
  const bool is_full = errno == ENOSPC || errno == EDQUOT;
  fail(path_,
       (is_full ? "there is no room on the disk for " : "the file system refuses to store ") +
           std::to_string(bytes) + " bytes");
}

void durable_file::release_room() const {
  struct stat found {};
  if (::fstat(file_.number(), &found) != 0 || ::ftruncate(file_.number(), found.st_size) != 0)
    fail(path_, "cannot give back the room behind its end");
}

void durable_file::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const auto written =
        ::pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot be written to at byte " + std::to_string(offset));
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void durable_file::sync() const {
  if (::fsync(file_.number()) != 0) fail(path_, "could not be brought to the disk");
  (void)::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_DONTNEED);  // a wish
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
  const feedline::detail::descriptor opened{folder.c_str(), O_DIRECTORY};
  // EINVAL is what some file systems say who need none.
  if (opened.number() < 0 || (::fsync(opened.number()) != 0 && errno != EINVAL))
    fail(folder, "could not be brought to the disk");
}

}  // namespace convert
