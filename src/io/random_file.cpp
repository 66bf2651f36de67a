#include "io/random_file.hpp"

#include "detail/log.hpp"
#include "detail/rate_limiter.hpp"
#include "io/file_mapping.hpp"
#include "io/file_system.hpp"
#include "io/file_watch.hpp"
#include "io/residency.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <utility>

namespace feedline::detail {
namespace {

/// A file that is less in memory than this is cold. A miss costs a disk's latency, a hundred times
/// what a hint does, so few of them are worth hints.
constexpr double warm_share = 0.98;

/// Linux brings in no more at a hint than the disk's read-ahead, 128 KiB by default, and drops the
/// rest.
constexpr std::uint64_t longest_hint = std::uint64_t{128} << 10;

std::string system_words(int error) {
  return std::generic_category().message(error);
}

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

/// Owns a file descriptor, or knows why there is none.
class owned_descriptor {
 public:
  explicit owned_descriptor(int number) noexcept
      : number_{number}, error_{number < 0 ? errno : 0} {}
  owned_descriptor(owned_descriptor&& other) noexcept
      : number_{std::exchange(other.number_, -1)}, error_{other.error_} {}
  owned_descriptor& operator=(owned_descriptor&&) = delete;
  ~owned_descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  int number_;
  int error_;
};

/// The file of another descriptor. Anew where it can be, so that advice about our reads is not
/// taken for theirs; else a duplicate.
owned_descriptor opened_again(int descriptor) {
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor);
  owned_descriptor again{::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  return again.number() >= 0 ? std::move(again)
                             : owned_descriptor{::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)};
}

}  // namespace

class random_file::state {
 public:
  state(owned_descriptor file, const std::filesystem::path& path, access how,
        std::chrono::nanoseconds look)
      : file_{std::move(file)}, path_{path.string()}, look_{look}, look_at_memory_{10 * look} {
    const int number = file_.number();
    if (number < 0)
      throw at({}, "cannot be opened: " + system_words(file_.error()) +
                       "; check the path and its permissions");
    struct stat status {};
    if (::fstat(number, &status) != 0) throw at({}, "cannot be examined: " + system_words(errno));
    if (S_ISDIR(status.st_mode)) throw at({}, "is a directory; name a file in it");
    if (!S_ISREG(status.st_mode))
      throw at({}, "is no regular file, so it cannot be read at random; copy it into one");
    size_ = static_cast<std::uint64_t>(status.st_size);
    const bool local = is_on_local_file_system(number);
    watch_.emplace(status, path, local);
    // Samples come in random order: a read is not to bring in what lies behind.
    (void)::posix_fadvise(number, 0, 0, POSIX_FADV_RANDOM);
    if (how == access::mapped || (how == access::automatic && local))
      mapping_ = file_mapping::of(number, size_);
    always_mapped_ = how == access::mapped;
    look_at_times();
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] int number() const noexcept { return file_.number(); }
  [[nodiscard]] bool is_cold() const noexcept { return cold_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::span<const std::byte> mapped() const noexcept {
    if (!mapping_ || !use_mapping_.load(std::memory_order_relaxed) || mapping_->lost()) return {};
    return mapping_->bytes();
  }

  [[nodiscard]] dataset_error at(std::optional<std::uint64_t> offset,
                                 const std::string& message) const {
    return dataset_error{{.path = path_, .field = {}, .sample = {}, .offset = offset}, message};
  }

  void read(std::uint64_t offset, std::span<std::byte> out) const;
  void require_unchanged();

  /// Looks at path and memory if nobody did for a while.
  void look_at_times() noexcept {
    if (!look_.is_due()) return;
    look_at_path();
    if (look_at_memory_.is_due()) look_at_memory();
  }

 private:
  void look_at_path() noexcept;
  void look_at_memory() noexcept;

  const owned_descriptor file_;
  const std::string path_;
  rate_limiter look_;
  rate_limiter look_at_memory_;  ///< more rarely: it takes as long as some fifty looks at a path
  std::uint64_t size_ = 0;
  std::optional<file_watch> watch_;
  std::unique_ptr<const file_mapping> mapping_;  ///< null: always read by calls
  bool always_mapped_ = false;
  std::atomic<bool> use_mapping_{false};
  std::atomic<bool> cold_{true};
  std::atomic<bool> gone_{false};  ///< another file, or none, was seen under the path
};

void random_file::state::look_at_path() noexcept try {
  if (!watch_->change_of_path().empty()) gone_.store(true);
} catch (...) {
  gone_.store(true);  // there was a change, and no memory for its name
}

void random_file::state::look_at_memory() noexcept {
  const bool cold = resident_share(number(), size_).value_or(0.0) < warm_share;
  cold_.store(cold, std::memory_order_relaxed);
  const bool guarded = mapping_ && sigbus_guard::in_use();
  if (mapping_ && !guarded) tell_of_other_handler();
  use_mapping_.store(mapping_ && (always_mapped_ || (!cold && guarded)), std::memory_order_relaxed);
}

void random_file::state::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset)
    throw at(offset, "there are no " + std::to_string(out.size()) + " bytes here: the file has " +
                         std::to_string(size_));
  while (!out.empty()) {
    const ssize_t got = ::pread(number(), out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw at(offset, "cannot be read: " + system_words(errno));
    }
    if (got == 0)
      throw at(offset, "ends here; it was cut since it was opened, when it had " +
                           std::to_string(size_) + " bytes; open it anew");
    out = out.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void random_file::state::require_unchanged() {
  // Asked first: if another reader finds later that bytes are gone, this one's were there, and what
  // made them go was not to be seen yet.
  const bool lost = mapping_ && mapping_->lost();
  look_at_times();
  std::string change = watch_->change_of(number());
  if (change.empty() && gone_.load(std::memory_order_relaxed)) {
    change = watch_->change_of_path();
    if (change.empty()) change = "was replaced or deleted for a while since it was opened";
  }
  if (change.empty() && lost)
    change = "lost bytes since it was opened: it was cut for a while, or its disk cannot be read";
  if (!change.empty())
    throw at({}, change + "; a file must stay as it is while it is read: open it anew");
}

random_file::random_file(const std::filesystem::path& path, access how,
                         std::chrono::nanoseconds look)
    // Not to wait for a writer, should it be a pipe.
    : state_{std::make_unique<state>(
          owned_descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}, path, how,
          look)} {}

random_file::random_file(int descriptor, const std::filesystem::path& path, access how,
                         std::chrono::nanoseconds look)
    : state_{std::make_unique<state>(opened_again(descriptor), path, how, look)} {}

random_file::~random_file() = default;

const std::string& random_file::path() const noexcept {
  return state_->path();
}

std::uint64_t random_file::size() const noexcept {
  return state_->size();
}

std::span<const std::byte> random_file::mapped() const noexcept {
  return state_->mapped();
}

void random_file::read(std::uint64_t offset, std::span<std::byte> out) const {
  state_->read(offset, out);
}

void random_file::require_unchanged() const {
  state_->require_unchanged();
}

bool random_file::is_cold() const noexcept {
  state_->look_at_times();
  return state_->is_cold();
}

void random_file::will_need(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  if (offset >= size()) return;
  const std::uint64_t end = offset + std::min(bytes, size() - offset);
  for (; offset < end; offset += longest_hint)
    (void)::posix_fadvise(state_->number(), static_cast<off_t>(offset),
                          static_cast<off_t>(std::min(longest_hint, end - offset)),
                          POSIX_FADV_WILLNEED);
}

}  // namespace feedline::detail
