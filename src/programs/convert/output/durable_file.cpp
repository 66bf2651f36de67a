#include "programs/convert/output/durable_file.hpp"

namespace convert {
namespace fs = std::filesystem;

void fail(const fs::path& path, const std::string& what) {
  throw std::system_error{errno, std::generic_category(), path.string() + ": " + what};
}

durable_file::durable_file(fs::path path, mode how)
    : path_{std::move(path)},
      file_{::open(path_.c_str(),
                   O_RDWR | O_CLOEXEC | (how == mode::create ? O_CREAT | O_TRUNC : 0), 0666)} {
  if (file_.number() < 0) fail(path_, "cannot be opened for writing");
}

void durable_file::reserve(std::uint64_t offset, std::uint64_t bytes) const {
  while (bytes != 0 && ::fallocate(file_.number(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                                   static_cast<off_t>(bytes)) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return;
    const bool is_full = errno == ENOSPC || errno == EDQUOT;
    const char* const what =
        is_full ? "there is no room on the disk for " : "the file system refuses to store ";
    fail(path_, what + std::to_string(bytes) + " bytes");
  }
}

void durable_file::resize(std::uint64_t bytes) const {
  if (::ftruncate(file_.number(), static_cast<off_t>(bytes)) != 0)
    fail(path_, "cannot be made " + std::to_string(bytes) + " bytes long");
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
  if (::fsync(file_.number()) != 0) fail(path_, "could not be flushed to the disk");
  (void)::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_DONTNEED);  // a hint
}

void replace_file(const fs::path& path, const std::string& text) {
  const fs::path written = path.string() + ".new";
  const durable_file file{written, durable_file::mode::create};
  file.write(0, std::as_bytes(std::span{text}));
  file.sync();
  fs::rename(written, path);
  sync_folder(path.parent_path());
}

void sync_folder(const fs::path& folder) {
  const feedline::detail::descriptor opened{folder.c_str(), O_DIRECTORY};
  // EINVAL comes from file systems that need no such call.
  if (opened.number() < 0 || (::fsync(opened.number()) != 0 && errno != EINVAL))
    fail(folder, "could not be flushed to the disk");
}

}  // namespace convert
