#include "io/local/watch.hpp"

#include <feedline/detail/splitmix64.hpp>

#include "io/local/descriptor.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace feedline::detail {
namespace {

/// `f_type` of local file systems, from statfs(2) and linux/magic.h.
constexpr std::array<std::uint32_t, 18> local_kinds{
    0x0000EF53,  // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0x2FC12FC1,  // ZFS
    0xF2F52010,  // F2FS
    0xCA451A4E,  // bcachefs
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x958458F6,  // hugetlbfs
    0x794C7630,  // overlayfs, as in containers
    0x73717368,  // SquashFS
    0xE0F5E1E2,  // EROFS
    0x3153464A,  // JFS
    0x7366746E,  // NTFS
    0x2011BAB0,  // exFAT
    0x00004D44,  // FAT
    0x00009660,  // ISO 9660
    0x15013346,  // UDF
};

bool is_as_written(const struct stat& now, const struct stat& before) noexcept {
  return now.st_size == before.st_size && now.st_mtim.tv_sec == before.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == before.st_mtim.tv_nsec;
}

const char* const gone = "was deleted or moved since it was opened";
const char* const replaced = "was replaced by another file since it was opened";

bool is_gone(int error) noexcept {
  return error == ENOENT || error == ENOTDIR || error == ESTALE;
}

constexpr std::uint64_t probes = 64;
constexpr std::uint64_t probe_bytes = std::uint64_t{256} << 10;

/// Begin of the i-th of `probes` pieces of this many bytes, at a page's start; the first is at the
/// file's beginning, the last at its end.
std::uint64_t probe_at(std::uint64_t i, std::uint64_t bytes, std::uint64_t piece,
                       std::uint64_t page) noexcept {
  const std::uint64_t room = bytes > piece ? bytes - piece : 0;
  return (room / (probes - 1) * i + room % (probes - 1) * i / (probes - 1)) / page * page;
}

/// cachestat(2), of Linux 6.5 and newer; one number on all architectures.
#ifdef __NR_cachestat
constexpr long cachestat_number = __NR_cachestat;
#else
constexpr long cachestat_number = 451;
#endif

struct cache_range {
  std::uint64_t offset;
  std::uint64_t bytes;
};

struct cache_pages {
  std::uint64_t cached;
  std::array<std::uint64_t, 4> others;  ///< dirty, under write-back, evicted, recently evicted
};

}  // namespace

bool is_on_local_file_system(int descriptor) noexcept {
  struct statfs status {};
  if (::fstatfs(descriptor, &status) != 0) return false;
  const auto kind = static_cast<std::uint32_t>(status.f_type);
  return std::find(local_kinds.begin(), local_kinds.end(), kind) != local_kinds.end();
}

std::optional<double> resident_share_by_cachestat(int descriptor, std::uint64_t bytes) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t cached = 0;
  std::uint64_t asked = 0;
  const bool whole = bytes <= probes * probe_bytes;
  for (std::uint64_t i = 0; i < (whole ? 1 : probes); ++i) {
    cache_range range{.offset = whole ? 0 : probe_at(i, bytes, probe_bytes, page),
                      .bytes = whole ? bytes : probe_bytes};
    cache_pages found{};
    if (::syscall(cachestat_number, descriptor, &range, &found, 0U) != 0) return std::nullopt;
    const std::uint64_t end = std::min(range.offset + range.bytes, bytes);
    asked += (end + page - 1) / page - range.offset / page;
    cached += found.cached;
  }
  return std::min(1.0, static_cast<double>(cached) / static_cast<double>(asked));
}

std::optional<double> resident_share_by_reads(int descriptor, std::uint64_t bytes) noexcept {
  std::uint64_t random =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  std::uint64_t cached = 0;
  for (std::uint64_t i = 0; i < probes; ++i) {
    random += golden_gamma;
    char byte = 0;
    const iovec into{.iov_base = &byte, .iov_len = 1};
    if (::preadv2(descriptor, &into, 1, static_cast<off_t>(mix(random) % bytes), RWF_NOWAIT) >= 0)
      ++cached;
    else if (errno != EAGAIN)
      return std::nullopt;
  }
  return static_cast<double>(cached) / static_cast<double>(probes);
}

std::optional<double> resident_share(int descriptor, std::uint64_t bytes) noexcept {
  if (bytes == 0) return 1.0;
  const auto share = resident_share_by_cachestat(descriptor, bytes);
  return share ? share : resident_share_by_reads(descriptor, bytes);
}

file_watch::file_watch(const struct stat& now, std::filesystem::path path, bool by_number)
    : opened_{now}, by_number_{by_number} {
  std::error_code unknown;
  if (!path.empty()) path_ = std::filesystem::absolute(path, unknown);
  if (unknown) path_.clear();
}

std::string file_watch::version() const {
  std::string text =
      by_number_ ? std::to_string(opened_.st_dev) + ':' + std::to_string(opened_.st_ino) + ' ' : "";
  return text + std::to_string(opened_.st_size) + ' ' + std::to_string(opened_.st_mtim.tv_sec) +
         '.' + std::to_string(opened_.st_mtim.tv_nsec);
}

std::string file_watch::change_of(int descriptor) const {
  struct stat now {};
  if (::fstat(descriptor, &now) != 0) return "cannot be examined any more: " + system_words();
  if (is_as_written(now, opened_)) [[likely]]
    return {};
  return words_for(now);
}

/// Describes the change of a file whose state differs from the recorded one.
std::string file_watch::words_for(const struct stat& now) const {
  // A write that leaves the size as it is, and `touch`, change the same times.
  if (now.st_size == opened_.st_size)
    return "was written to since it was opened, or only its time was set (touch): its size is the "
           "same, and only reading all of it would tell";
  return std::string{now.st_size < opened_.st_size ? "was cut" : "has grown"} + " from " +
         std::to_string(opened_.st_size) + " to " + std::to_string(now.st_size) +
         " bytes since it was opened";
}

std::string file_watch::change_of_path() const {
  if (path_.empty()) return {};
  struct stat now {};
  if (::stat(path_.c_str(), &now) != 0) {
    // Short of memory, or a directory that may not be searched any more: no news.
    return is_gone(errno) ? gone : std::string{};
  }
  return is_same_file(now) ? std::string{} : replaced;
}

std::string file_watch::change_of_file_there() const {
  struct stat now {};
  if (::stat(path_.c_str(), &now) == 0) [[likely]]
    return change_to(now);
  return is_gone(errno) ? gone : "cannot be examined any more: " + system_words();
}

std::string file_watch::change_to(const struct stat& now) const {
  if (!is_same_file(now)) return replaced;
  return is_as_written(now, opened_) ? std::string{} : words_for(now);
}

bool file_watch::is_same_file(const struct stat& now) const noexcept {
  if (now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino) return true;
  return !by_number_ && is_as_written(now, opened_);
}

}  // namespace feedline::detail
