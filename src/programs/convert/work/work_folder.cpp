#include "programs/convert/work/work_folder.hpp"

#include <feedline/error.hpp>

#include "programs/convert/work/durable_file.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace convert {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view claim_text = "feedline-convert makes an output in this folder\n";

[[noreturn]] void refuse(const fs::path& path, const fs::path& found) {
  throw feedline::usage_error{
      path.string() + ": feedline-convert makes its output in a folder of that name, and " +
      found.string() + " is not of its making: move it away, or choose another --output"};
}

bool is_folder(const fs::path& path) {
  return fs::symlink_status(path).type() == fs::file_type::directory;
}

}  // namespace

work_folder::work_folder(fs::path path) : path_{std::move(path)}, descriptor_{enter()} {
  try {
    claim(descriptor_);
    require_only_own();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

work_folder::~work_folder() {
  try {
    if (!removed_ && !fs::exists(journal())) remove();
  } catch (const std::exception& error) {
    spdlog::warn("{}", error.what());
  }
  ::close(descriptor_);
}

void work_folder::clear() const {
  fs::remove(journal());
  fs::remove(journal().string() + ".new");
  fs::remove_all(unfinished());
}

// The lock's file last: a folder that has anything has a lock.
void work_folder::remove() {
  removed_ = true;
  clear();
  fs::remove(lock());
  fs::remove(path_);
}

int work_folder::enter() const {
  for (;;)
    if (const int descriptor = try_to_enter(); descriptor >= 0) return descriptor;
}

/// @return the locked descriptor; negative if another run removed the folder meanwhile.
int work_folder::try_to_enter() const {
  if (::mkdir(path_.c_str(), 0777) != 0) {
    if (errno != EEXIST) fail(path_, "cannot be made; check its folder's permissions");
    if (!identity_at(path_)) return -1;
    if (!is_folder(path_) || is_foreign()) refuse(path_, path_);
  }
  const int descriptor = ::open(lock().c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    if (errno == ENOENT) return -1;
    fail(lock(), "cannot be opened");
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EWOULDBLOCK) {
      ::close(descriptor);
      throw std::runtime_error{path_.string() +
                               ": another feedline-convert is at work on this output"};
    }
    spdlog::warn("{} cannot be locked ({}): let no other feedline-convert write this output",
                 path_.string(), std::generic_category().message(error));
  }
  struct stat locked {};
  if (::fstat(descriptor, &locked) == 0 &&
      identity_at(lock()) == file_identity{locked.st_dev, locked.st_ino})
    return descriptor;
  ::close(descriptor);
  return -1;
}

/// Whether it has anything but no lock. An empty one was left by a run that was killed early.
bool work_folder::is_foreign() const {
  bool is_empty = true;
  std::error_code gone;  // a run that ends removes it
  for (fs::directory_iterator at{path_, gone}, end; !gone && at != end; at.increment(gone)) {
    if (at->path() == lock()) return false;
    is_empty = false;
  }
  return !is_empty;
}

/// Says in the lock's file whose it is. Part of that was left by a run that was killed just then.
void work_folder::claim(int descriptor) const {
  std::array<char, 128> found{};
  const auto size = ::pread(descriptor, found.data(), found.size(), 0);
  if (size < 0) fail(lock(), "cannot be read");
  const std::string_view text(found.data(), static_cast<std::size_t>(size < 0 ? 0 : size));
  if (!claim_text.starts_with(text)) refuse(path_, lock());
  if (text != claim_text && ::pwrite(descriptor, claim_text.data(), claim_text.size(), 0) !=
                                static_cast<ssize_t>(claim_text.size()))
    fail(lock(), "cannot be written; is the disk full?");
}

void work_folder::require_only_own() const {
  const std::vector<fs::path> own{lock(), journal(), journal().string() + ".new", unfinished()};
  for (const auto& entry : fs::directory_iterator{path_})
    if (std::find(own.begin(), own.end(), entry.path()) == own.end()) refuse(path_, entry.path());
  if (!is_folder(unfinished())) return;
  for (const auto& entry : fs::directory_iterator{unfinished()})
    if (!entry.is_regular_file() || entry.path().extension() != ".npy") refuse(path_, entry.path());
}

}  // namespace convert
