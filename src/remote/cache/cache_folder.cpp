#include "remote/cache/cache_folder.hpp"

#include <feedline/error.hpp>

#include "remote/cache/block_file.hpp"
#include "remote/request/per_process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include <dirent.h>

namespace feedline::detail {

/// The beginning of the file of locks.
struct cache_folder::index {
  std::atomic<std::uint64_t> used;
};

/// Locks of the kernel are the whole process's. A process may use a folder several times, mounted
/// with different sizes or by different paths, and these must not fetch and count the same.
struct cache_folder::own_claims {
  std::mutex mutex;
  std::set<std::pair<file_id, std::uint64_t>> keys;
  std::set<file_id> entered;

  [[nodiscard]] static own_claims& of_this_process() {
    return per_process<own_claims>::get([] { return new own_claims; });
  }
};

namespace {

constexpr const char* name_of_own = "feedline-cache-1";  // the number is the layout's
constexpr const char* name_of_locks = "locks";
constexpr std::size_t index_bytes = 4096;
constexpr std::string_view unfinished = ".new";
constexpr std::size_t text_allowance = 1024;
constexpr std::chrono::seconds touch_after{60};

class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_{number} {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

[[noreturn]] void refuse_folder(const std::string& path, const std::string& why) {
  throw usage_error{"mount_remote_files: remote_options::cache.folder '" + path + "' " + why};
}

[[noreturn]] void refuse_folder_error(const std::string& path, const char* what, int number) {
  refuse_folder(path, std::string{what} + ": " + std::generic_category().message(number) +
                          "; name a folder of this machine that this user may write to");
}

/// A lock on the byte of a key, past the index.
struct flock lock_of(std::uint64_t key, short kind) noexcept {
  struct flock it {};
  it.l_type = kind;
  it.l_whence = SEEK_SET;
  it.l_start = static_cast<off_t>(index_bytes + (key >> 2));
  it.l_len = 1;
  return it;
}

}  // namespace

std::string block_name::text() const {
  std::array<char, 40> room;
  const int written =
      std::snprintf(room.data(), room.size(), "%016llx-%llx", static_cast<unsigned long long>(key),
                    static_cast<unsigned long long>(bytes));
  return {room.data(), static_cast<std::size_t>(written)};
}

std::optional<block_name> block_name::parse(const std::string& name) {
  constexpr std::size_t digits = 16;
  if (name.size() < digits + 2 || name[digits] != '-') return {};
  block_name parsed;
  const char* const begin = name.data();
  const char* const end = begin + name.size();
  const auto key = std::from_chars(begin, begin + digits, parsed.key, 16);
  const auto bytes = std::from_chars(begin + digits + 1, end, parsed.bytes, 16);
  if (key.ec != std::errc{} || bytes.ec != std::errc{} || bytes.ptr != end) return {};
  if (parsed.text() != name) return {};
  return parsed;
}

std::shared_ptr<cache_folder> cache_folder::open(const std::string& path, std::uint64_t max_bytes) {
  if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    refuse_folder_error(path, "cannot be made", errno);
  const descriptor outer{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (outer.get() < 0) refuse_folder_error(path, "cannot be opened", errno);
  if (mkdirat(outer.get(), name_of_own, S_IRWXU) != 0 && errno != EEXIST)
    refuse_folder_error(path, "cannot be written to", errno);
  descriptor own{openat(outer.get(), name_of_own, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
  const std::string name = path + "/" + name_of_own;
  if (own.get() < 0)
    refuse_folder(path, std::string{"has '"} + name_of_own +
                            "', which is no folder, or a link; remove it, or name another folder");
  struct stat state {};
  if (fstat(own.get(), &state) != 0) refuse_folder_error(path, "cannot be examined", errno);
  if (state.st_uid != geteuid())
    refuse_folder(path, "has a cache of another user; name a folder of this user's");
  if ((state.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse_folder(path, "has a cache that other users may read or write; chmod 700 '" + name +
                            "', or name another folder");
  descriptor locks{openat(own.get(), name_of_locks, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                          S_IRUSR | S_IWUSR)};
  if (locks.get() < 0) refuse_folder_error(path, "cannot be written to", errno);
  // Room, and not only length: else a full disk would end the process by a signal. What another
  // process has counted there stays.
  if (const int fault = posix_fallocate(locks.get(), 0, index_bytes); fault != 0)
    refuse_folder_error(path, "cannot be written to", fault);
  struct flock probe = lock_of(0, F_RDLCK);
  if (fcntl(locks.get(), F_GETLK, &probe) != 0)
    refuse_folder_error(path, "has no locks of files", errno);
  void* const mapped =
      mmap(nullptr, index_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, locks.get(), 0);
  if (mapped == MAP_FAILED) refuse_folder_error(path, "cannot be mapped", errno);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  const file_id id{static_cast<std::uint64_t>(state.st_dev),
                   static_cast<std::uint64_t>(state.st_ino)};
  return {new cache_folder{path, own.release(), locks.release(), static_cast<index*>(mapped),
                           max_bytes, id},
          [](cache_folder*) {}};
}

bool cache_folder::has(const block_name& block) const noexcept try {
  return faccessat(folder_, block.text().c_str(), F_OK, 0) == 0;
} catch (...) {
  return false;
}

cache_folder::outcome cache_folder::read(const block_name& block, const std::string& text,
                                         std::uint64_t offset, std::span<std::byte> out) {
  const descriptor file{openat(folder_, block.text().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  if (file.get() < 0) return outcome::absent;
  switch (block_file::read(file.get(), block.bytes, text, offset, out)) {
    case block_file::outcome::damaged:
      remove(block);
      return outcome::damaged;
    case block_file::outcome::other:  // two blocks of one key: the later one stays
      remove(block);
      return outcome::absent;
    case block_file::outcome::read:
      break;
  }
  struct stat state {};
  if (fstat(file.get(), &state) == 0 &&
      std::chrono::seconds{time(nullptr) - state.st_mtime} > touch_after)
    (void)futimens(file.get(), nullptr);
  return outcome::read;
}

bool cache_folder::lock(std::uint64_t key) const noexcept try {
  own_claims& own = own_claims::of_this_process();
  const std::lock_guard guard{own.mutex};
  const auto [place, is_new] = own.keys.emplace(id_, key);
  if (!is_new) return false;
  struct flock it = lock_of(key, F_WRLCK);
  int done = 0;
  do done = fcntl(lock_file_, F_SETLK, &it);
  while (done != 0 && errno == EINTR);
  if (done != 0) own.keys.erase(place);
  return done == 0;
} catch (...) {  // short of memory
  return false;
}

void cache_folder::unlock(std::uint64_t key) const noexcept {
  own_claims& own = own_claims::of_this_process();  // `lock` has made it
  const std::lock_guard guard{own.mutex};
  own.keys.erase({id_, key});
  struct flock it = lock_of(key, F_UNLCK);
  (void)fcntl(lock_file_, F_SETLK, &it);
}

bool cache_folder::is_locked_elsewhere(std::uint64_t key) const noexcept {
  if (own_claims* const own = per_process<own_claims>::find()) {
    const std::lock_guard guard{own->mutex};
    if (own->keys.contains({id_, key})) return true;
  }
  struct flock it = lock_of(key, F_WRLCK);
  return fcntl(lock_file_, F_GETLK, &it) == 0 && it.l_type != F_UNLCK;
}

std::uint64_t cache_folder::counted(std::uint64_t bytes) noexcept {
  return block_file::file_bytes(bytes, text_allowance);
}

bool cache_folder::reserve(std::uint64_t bytes) noexcept {
  std::uint64_t used = shared_->used.load();
  do
    if (bytes > max_bytes_ || used > max_bytes_ - bytes) return false;
  while (!shared_->used.compare_exchange_weak(used, used + bytes));
  return true;
}

void cache_folder::release(std::uint64_t bytes) noexcept {
  std::uint64_t used = shared_->used.load();
  while (!shared_->used.compare_exchange_weak(used, used - std::min(used, bytes))) continue;
}

std::uint64_t cache_folder::used() const noexcept {
  return shared_->used.load();
}

cache_folder::stored cache_folder::store(const block_name& block, const std::string& text,
                                         std::span<const std::byte> bytes) {
  const std::string name = block.text();
  const std::string before = name + std::string{unfinished};
  (void)unlinkat(folder_, before.c_str(), 0);  // a killed process's
  int fault = 0;
  try {
    const descriptor file{openat(folder_, before.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 S_IRUSR | S_IWUSR)};
    fault = file.get() < 0 ? errno : block_file::write(file.get(), bytes, text);
  } catch (...) {
    (void)unlinkat(folder_, before.c_str(), 0);
    throw;
  }
  if (fault == 0 && renameat(folder_, before.c_str(), folder_, name.c_str()) != 0) fault = errno;
  if (fault == 0) return stored::yes;
  (void)unlinkat(folder_, before.c_str(), 0);
  return fault == ENOSPC || fault == EDQUOT || fault == EFBIG ? stored::disk_full : stored::failed;
}

bool cache_folder::remove(const block_name& block) noexcept try {
  if (unlinkat(folder_, block.text().c_str(), 0) != 0) return false;
  release(counted(block.bytes));
  return true;
} catch (...) {
  return false;
}

template <class Body>
void cache_folder::for_each_name(Body body) const {
  const int copy = openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0) close(copy);
    return;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> closed{entries, &closedir};
  while (const dirent* const entry = readdir(entries))  // NOLINT(concurrency-mt-unsafe): our own
    body(entry->d_name);
}

void cache_folder::enter() {
  own_claims& own = own_claims::of_this_process();
  const std::lock_guard guard{own.mutex};
  if (!own.entered.insert(id_).second) return;
  struct flock presence = lock_of(0, F_WRLCK);
  presence.l_start = 0;
  if (fcntl(lock_file_, F_SETLK, &presence) == 0) try {
      std::uint64_t bytes = 0;
      for_each_name([&](std::string name) {
        const bool is_whole = !name.ends_with(unfinished);
        if (!is_whole) name.resize(name.size() - unfinished.size());
        const auto block = block_name::parse(name);
        if (block && is_whole) bytes += counted(block->bytes);
        if (block && !is_whole)
          (void)unlinkat(folder_, (name + std::string{unfinished}).c_str(), 0);
      });
      shared_->used.store(bytes);
    } catch (...) {  // others must not wait for it
      presence.l_type = F_UNLCK;
      (void)fcntl(lock_file_, F_SETLK, &presence);
      own.entered.erase(id_);
      throw;
    }
  presence.l_type = F_RDLCK;
  while (fcntl(lock_file_, F_SETLKW, &presence) != 0 && errno == EINTR) continue;
}

std::vector<block_name> cache_folder::list() const {
  std::vector<block_name> found;
  for_each_name([&](const std::string& name) {
    if (const auto block = block_name::parse(name)) found.push_back(*block);
  });
  return found;
}

std::chrono::seconds cache_folder::unused_for(const block_name& block) const noexcept try {
  struct stat state {};
  if (fstatat(folder_, block.text().c_str(), &state, AT_SYMLINK_NOFOLLOW) != 0)
    return std::chrono::seconds::zero();
  return std::chrono::seconds{std::max<std::int64_t>(time(nullptr) - state.st_mtime, 0)};
} catch (...) {
  return std::chrono::seconds::zero();
}

}  // namespace feedline::detail
