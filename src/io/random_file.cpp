#include "io/random_file.hpp"

#include <feedline/io/map_files.hpp>

#include "detail/log.hpp"
#include "io/file_mapping.hpp"
#include "io/remote_path.hpp"

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

/// Opens the file of another descriptor. Opens it again if possible, so that advice about our reads
/// does not affect the other descriptor; otherwise duplicates it.
descriptor opened_again(int number) {
  descriptor again =
      open_with_room(("/proc/self/fd/" + std::to_string(number)).c_str(), O_NONBLOCK);
  return again.number() >= 0 ? std::move(again) : descriptor{::fcntl(number, F_DUPFD_CLOEXEC, 0)};
}

}  // namespace

random_file::random_file(descriptor file, const std::filesystem::path& path, access how,
                         std::chrono::nanoseconds look)
    : path_{path.string()}, look_{look}, look_at_memory_{10 * look} {
  const int number = file.number();
  if (number < 0) {
    refuse_remote_path(path_);
    throw error({}, file.refusal());
  }
  struct stat status {};
  if (::fstat(number, &status) != 0) throw error({}, "cannot be examined: " + system_words());
  if (S_ISDIR(status.st_mode)) throw error({}, "is a directory; name a file in it");
  if (!S_ISREG(status.st_mode))
    throw error({}, "is no regular file, so it cannot be read at random; copy it into one");
  size_ = static_cast<std::uint64_t>(status.st_size);
  const bool local = is_on_local_file_system(number);
  watch_.emplace(status, path, local);
  file_.emplace(std::move(file), *watch_);
  if (how == access::mapped || (how == access::automatic && local && may_map_files()))
    mapping_ = file_mapping::of(number, size_);
  always_mapped_ = how == access::mapped;
  look_at_times();
  file_->join(mapping_ != nullptr);
}

random_file::random_file(const std::filesystem::path& path, access how,
                         std::chrono::nanoseconds look)
    : random_file{open_with_room(path.c_str(), O_NONBLOCK), path, how, look} {}

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
  const bool cold = share_in_memory() < warm_share;
  cold_.store(cold, std::memory_order_relaxed);
  const bool guarded = mapping_ && file_mapping::handler_in_use();
  if (mapping_ && !guarded) tell_of_other_handler();
  use_mapping_.store(mapping_ && (always_mapped_ || (!cold && guarded)), std::memory_order_relaxed);
}

double random_file::share_in_memory() const noexcept {
  if (const auto file = file_->take_if_open())
    return resident_share(file.number(), size_).value_or(0.0);
  // Not kept: a mapped file needs a descriptor only for this look.
  const descriptor opened = open_with_room(watch_->path().c_str(), O_NONBLOCK);
  if (opened.number() < 0) return 0.0;  // the next read says why
  (void)::posix_fadvise(opened.number(), 0, 0, POSIX_FADV_RANDOM);
  return resident_share(opened.number(), size_).value_or(0.0);
}

int random_file::number() const {
  auto file = taken();
  const int number = file.number();
  if (!stays_open_.exchange(true)) file.leave_open();
  return number;
}

kept_descriptor::use random_file::taken() const {
  std::string refusal;
  auto file = file_->take(refusal);
  if (!file) throw error({}, refusal);
  return file;
}

void random_file::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset)
    throw error(offset, "there are no " + std::to_string(out.size()) +
                            " bytes here: the file has " + std::to_string(size_));
  const auto file = taken();
  while (!out.empty()) {
    const ssize_t got = ::pread(file.number(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw error(offset, "cannot be read: " + system_words(errno));
    }
    if (got == 0)
      throw error(offset, "ends here; it was cut since it was opened, when it had " +
                              std::to_string(size_) + " bytes; open it again");
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void random_file::require_unchanged() const {
  // Asked first: if another reader later finds bytes gone, this one's were there, and the cause
  // could not be seen yet.
  const bool lost = mapping_ && mapping_->lost();
  look_at_times();
  const auto file = file_->take_if_open();
  std::string change = file ? watch_->change_of(file.number()) : watch_->change_of_file_there();
  if (change.empty() && gone_.load(std::memory_order_relaxed)) {
    change = watch_->change_of_path();
    if (change.empty()) change = "was replaced or deleted for a while since it was opened";
  }
  if (change.empty() && lost)
    change = "lost bytes since it was opened: it was cut for a while, or its disk cannot be read";
  if (!change.empty()) throw error({}, change + stay_advice);
}

bool random_file::is_cold() const noexcept {
  look_at_times();
  return cold_.load(std::memory_order_relaxed);
}

void random_file::will_need(std::uint64_t offset, std::uint64_t bytes) const noexcept try {
  if (offset >= size_) return;
  std::string refusal;
  const auto file = file_->take(refusal);
  if (!file) return;
  const std::uint64_t end = offset + std::min(bytes, size_ - offset);
  for (; offset < end; offset += longest_hint)
    (void)::posix_fadvise(file.number(), static_cast<off_t>(offset),
                          static_cast<off_t>(std::min(longest_hint, end - offset)),
                          POSIX_FADV_WILLNEED);
} catch (...) {  // NOLINT(bugprone-empty-catch): short of memory; a hint may be dropped
}

}  // namespace feedline::detail
