#include "io/random_file.hpp"

#include <feedline/io/map_files.hpp>

#include "detail/log.hpp"
#include "io/file_mapping.hpp"
#include "io/remote_path.hpp"

#include <algorithm>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
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

}  // namespace feedline

namespace feedline::detail {
namespace {

/// A file that is less in memory than this is cold. A miss costs a disk's latency, a hundred times
/// what a hint does, so few of them are worth hints.
constexpr double warm_share = 0.98;

/// Linux brings in no more at a hint than the disk's read-ahead, 128 KiB by default, and drops the
/// rest.
constexpr std::uint64_t longest_hint = std::uint64_t{128} << 10;

/// Once in a process. The static holds no resource; a warning a file would be thousands.
void tell_of_other_handler() noexcept try {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    log()->warn(
        "another handler of SIGBUS was installed after feedline's, so files are read by calls, and "
        "not mapped, which is slower for small rows. Install that handler before feedline opens "
        "its "
        "first file: then feedline's stands in front of it, and passes on every fault that is not "
        "its own. Files are mapped again when that handler is gone");
} catch (...) {  // NOLINT(bugprone-empty-catch): a log that fails changes nothing
}

/// The file of another descriptor. Anew where it can be, so that advice about our reads is not
/// taken for theirs; else a duplicate.
descriptor opened_again(int number) {
  descriptor again{("/proc/self/fd/" + std::to_string(number)).c_str(), O_NONBLOCK};
  return again.number() >= 0 ? std::move(again) : descriptor{::fcntl(number, F_DUPFD_CLOEXEC, 0)};
}

}  // namespace

random_file::random_file(descriptor file, const std::filesystem::path& path, access how,
                         std::chrono::nanoseconds look)
    : file_{std::move(file)}, path_{path.string()}, look_{look}, look_at_memory_{10 * look} {
  const int number = file_.number();
  if (number < 0) {
    refuse_remote_path(path_);
    throw error({}, file_.refusal());
  }
  struct stat status {};
  if (::fstat(number, &status) != 0) throw error({}, "cannot be examined: " + system_words());
  if (S_ISDIR(status.st_mode)) throw error({}, "is a directory; name a file in it");
  if (!S_ISREG(status.st_mode))
    throw error({}, "is no regular file, so it cannot be read at random; copy it into one");
  size_ = static_cast<std::uint64_t>(status.st_size);
  const bool local = is_on_local_file_system(number);
  watch_.emplace(status, path, local);
  // Samples come in random order: a read is not to bring in what lies behind.
  (void)::posix_fadvise(number, 0, 0, POSIX_FADV_RANDOM);
  if (how == access::mapped || (how == access::automatic && local && may_map_files()))
    mapping_ = file_mapping::of(number, size_);
  always_mapped_ = how == access::mapped;
  look_at_times();
}

random_file::random_file(const std::filesystem::path& path, access how,
                         std::chrono::nanoseconds look)
    : random_file{descriptor{path.c_str(), O_NONBLOCK}, path, how, look} {}

random_file::random_file(int number, const std::filesystem::path& path, access how,
                         std::chrono::nanoseconds look)
    : random_file{opened_again(number), path, how, look} {}

random_file::~random_file() = default;

std::span<const std::byte> random_file::mapped() const noexcept {
  if (!mapping_ || !use_mapping_.load(std::memory_order_relaxed) || mapping_->lost()) return {};
  return mapping_->bytes();
}

dataset_error random_file::error(std::optional<std::uint64_t> offset,
                                 const std::string& message) const {
  return {{.path = path_, .field = {}, .sample = {}, .offset = offset}, message};
}

void random_file::look_at_times() const noexcept {
  if (!look_.is_due()) return;
  look_at_path();
  if (look_at_memory_.is_due()) look_at_memory();
}

void random_file::look_at_path() const noexcept try {
  if (!watch_->change_of_path().empty()) gone_.store(true);
} catch (...) {
  gone_.store(true);  // there was a change, and no memory for its name
}

void random_file::look_at_memory() const noexcept {
  const bool cold = resident_share(file_.number(), size_).value_or(0.0) < warm_share;
  cold_.store(cold, std::memory_order_relaxed);
  const bool guarded = mapping_ && file_mapping::handler_in_use();
  if (mapping_ && !guarded) tell_of_other_handler();
  use_mapping_.store(mapping_ && (always_mapped_ || (!cold && guarded)), std::memory_order_relaxed);
}

void random_file::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset)
    throw error(offset, "there are no " + std::to_string(out.size()) +
                            " bytes here: the file has " + std::to_string(size_));
  while (!out.empty()) {
    const ssize_t got = ::pread(file_.number(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw error(offset, "cannot be read: " + system_words(errno));
    }
    if (got == 0)
      throw error(offset, "ends here; it was cut since it was opened, when it had " +
                              std::to_string(size_) + " bytes; open it anew");
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void random_file::require_unchanged() const {
  // Asked first: if another reader finds later that bytes are gone, this one's were there, and what
  // made them go was not to be seen yet.
  const bool lost = mapping_ && mapping_->lost();
  look_at_times();
  std::string change = watch_->change_of(file_.number());
  if (change.empty() && gone_.load(std::memory_order_relaxed)) {
    change = watch_->change_of_path();
    if (change.empty()) change = "was replaced or deleted for a while since it was opened";
  }
  if (change.empty() && lost)
    change = "lost bytes since it was opened: it was cut for a while, or its disk cannot be read";
  if (!change.empty())
    throw error({}, change + "; a file must stay as it is while it is read: open it anew");
}

bool random_file::is_cold() const noexcept {
  look_at_times();
  return cold_.load(std::memory_order_relaxed);
}

void random_file::will_need(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  if (offset >= size_) return;
  const std::uint64_t end = offset + std::min(bytes, size_ - offset);
  for (; offset < end; offset += longest_hint)
    (void)::posix_fadvise(file_.number(), static_cast<off_t>(offset),
                          static_cast<off_t>(std::min(longest_hint, end - offset)),
                          POSIX_FADV_WILLNEED);
}

}  // namespace feedline::detail
