#include "io/local/file.hpp"

#include <feedline/io/map_files.hpp>

#include "detail/log.hpp"
#include "io/local/mapping.hpp"

#include <algorithm>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

// A static, as the handler of SIGBUS is that it keeps away. It needs no construction.
constinit std::atomic<bool> is_allowed{true};

}  // namespace

void map_files(bool allowed) noexcept {
  is_allowed.store(allowed);
}

bool may_map_files() noexcept {
  return is_allowed.load();
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline

namespace feedline::detail {
namespace {

/// A file of which less than this is in memory is cold. A miss costs a disk's latency, a hundred
/// times the cost of a hint, so hints pay even for few misses.
constexpr double warm_share = 0.98;

/// Linux brings in no more at a hint than the disk's read-ahead, 128 KiB by default, and drops the
/// rest.
constexpr std::uint64_t max_hint = std::uint64_t{128} << 10;

/// Parts of a read whose gaps are no larger than a page lie on pages that are read in any case.
constexpr std::uint64_t max_gap = 4096;
constexpr std::uint64_t max_joined = std::uint64_t{256} << 10;

/// Once in a process. The static holds no resource; a warning a file would be thousands.
void tell_of_other_handler() noexcept try {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    log()->warn(
        "another handler of SIGBUS was installed after feedline's, so files are not mapped but "
        "read by pread, which is slower for small rows. Install that handler before feedline "
        "opens its first file: then feedline's handler comes first, and passes on every fault "
        "outside of feedline's files. Files are mapped again when that handler is removed");
} catch (...) {  // NOLINT(bugprone-empty-catch): a log that fails changes nothing
}

/// Refuses an open file that is not a regular one. @throws dataset_error
file_watch watch_of(const descriptor& file, const std::filesystem::path& path) {
  const auto refusal = [&](const std::string& why) {
    return dataset_error{{.path = path.string(), .field = {}}, why};
  };
  if (file.number() < 0) throw refusal(file.refusal());
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) throw refusal("cannot be examined: " + system_words());
  if (S_ISDIR(status.st_mode)) throw refusal("is a directory; name a file in it");
  if (!S_ISREG(status.st_mode))
    throw refusal("is not a regular file, so it cannot be read at random; copy it into one");
  return {status, path, is_on_local_file_system(file.number())};
}

}  // namespace

local_file::local_file(descriptor file, const std::filesystem::path& path, file_access how,
                       std::chrono::nanoseconds look)
    : local_file{watch_of(file, path), std::move(file), path, how, look} {}

local_file::local_file(const file_watch& watch, descriptor file, const std::filesystem::path& path,
                       file_access how, std::chrono::nanoseconds look)
    : byte_file{path.string(), watch.size(), {.max_gap = max_gap, .max_bytes = max_joined}},
      watch_{watch},
      file_{std::move(file), watch_},
      look_{look},
      look_at_memory_{10 * look} {
  if (how == file_access::mapped ||
      (how == file_access::automatic && watch_.is_by_number() && may_map_files()))
    mapping_ = file_mapping::of(file_.take_if_open().number(), size());
  always_mapped_ = how == file_access::mapped;
  look_at_times();
  file_.join(mapping_ != nullptr);
}

local_file::local_file(const std::filesystem::path& path, file_access how,
                       std::chrono::nanoseconds look)
    : local_file{open_with_room(path.c_str(), O_NONBLOCK), path, how, look} {}

local_file::~local_file() = default;

std::span<const std::byte> local_file::mapped() const noexcept {
  if (!mapping_ || !use_mapping_.load(std::memory_order_relaxed) || mapping_->lost()) return {};
  return mapping_->bytes();
}

void local_file::look_at_times() const noexcept {
  if (!look_.is_due()) return;
  look_at_path();
  if (look_at_memory_.is_due()) look_at_memory();
}

void local_file::look_at_path() const noexcept try {
  if (!watch_.change_of_path().empty()) gone_.store(true);
} catch (...) {
  gone_.store(true);  // there was a change, and no memory for its name
}

void local_file::look_at_memory() const noexcept {
  const bool cold = share_in_memory() < warm_share;
  cold_.store(cold, std::memory_order_relaxed);
  const bool guarded = mapping_ && file_mapping::handler_in_use();
  if (mapping_ && !guarded) tell_of_other_handler();
  use_mapping_.store(mapping_ && (always_mapped_ || (!cold && guarded)), std::memory_order_relaxed);
}

double local_file::share_in_memory() const noexcept {
  if (const auto file = file_.take_if_open())
    return resident_share(file.number(), size()).value_or(0.0);
  // Not kept: a mapped file needs a descriptor only for this look.
  const descriptor opened = open_with_room(watch_.path().c_str(), O_NONBLOCK);
  if (opened.number() < 0) return 0.0;  // the next read says why
  (void)::posix_fadvise(opened.number(), 0, 0, POSIX_FADV_RANDOM);
  return resident_share(opened.number(), size()).value_or(0.0);
}

kept_descriptor::use local_file::taken() const {
  std::string refusal;
  auto file = file_.take(refusal);
  if (!file) throw error({}, refusal);
  return file;
}

void local_file::do_read(std::span<const byte_read> parts) const {
  const auto file = taken();
  for (auto [offset, out] : parts)
    while (!out.empty()) {
      const ssize_t got =
          ::pread(file.number(), out.data(), out.size(), static_cast<off_t>(offset));
      if (got < 0) {
        if (errno == EINTR) continue;
        throw error(offset, "cannot be read: " + system_words(errno));
      }
      if (got == 0)
        throw error(offset, "ends here; it was cut since it was opened, when it had " +
                                std::to_string(size()) + " bytes; open it again");
      out = out.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
}

void local_file::require_unchanged() const {
  // Asked first: if another reader later finds bytes gone, this one's were there, and the cause
  // could not be seen yet.
  const bool lost = mapping_ && mapping_->lost();
  look_at_times();
  const auto file = file_.take_if_open();
  std::string change = file ? watch_.change_of(file.number()) : watch_.change_of_file_there();
  if (change.empty() && gone_.load(std::memory_order_relaxed)) {
    change = watch_.change_of_path();
    if (change.empty()) change = "was replaced or deleted for a while since it was opened";
  }
  if (change.empty() && lost)
    change = "lost bytes since it was opened: it was cut for a while, or its disk cannot be read";
  if (!change.empty()) throw error({}, change + stay_advice);
}

bool local_file::is_cold() const noexcept {
  look_at_times();
  return cold_.load(std::memory_order_relaxed);
}

void local_file::do_will_need(std::span<const byte_range> ranges) const noexcept try {
  std::string refusal;
  const auto file = file_.take(refusal);
  if (!file) return;
  for (auto [offset, end] : ranges)
    for (; offset < end; offset += max_hint)
      (void)::posix_fadvise(file.number(), static_cast<off_t>(offset),
                            static_cast<off_t>(std::min(max_hint, end - offset)),
                            POSIX_FADV_WILLNEED);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
