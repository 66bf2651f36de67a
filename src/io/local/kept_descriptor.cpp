#include "io/local/kept_descriptor.hpp"

#include "io/local/descriptor_limit.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <type_traits>

namespace feedline::detail {
namespace {

constexpr std::uint64_t one_number = std::uint64_t{1} << 32;  // in kept_descriptor::state_

constexpr std::uint64_t state_of(int number) noexcept {
  return (static_cast<std::uint64_t>(number) + 1) * one_number;
}

constexpr int number_in(std::uint64_t state) noexcept {
  return static_cast<int>(state / one_number) - 1;
}

/// Samples come in random order: a read should not read in the bytes after it.
void expect_random_reads(int number) noexcept {
  (void)::posix_fadvise(number, 0, 0, POSIX_FADV_RANDOM);
}

constexpr bool is_out_of_descriptors(int error) noexcept {
  return error == EMFILE || error == ENFILE;
}

}  // namespace

/// The process's kept descriptors, from the one that is looked at next if one must be closed to the
/// one added or spared last. Any thread.
class descriptor_set {
 public:
  /// Adds one, and closes others if it is one too many.
  void add(const kept_descriptor& one) noexcept {
    survive_fork();
    closed_now closed;
    const std::scoped_lock lock{mutex_};
    append(one);
    // More than one only if all were in use, or the limit was lowered: then the set shrinks again.
    if (const std::uint64_t most = capacity(); count_ > most)
      close_unused(closed, std::min<std::uint64_t>(count_ - most, 2));
  }

  bool add_if_room(const kept_descriptor& one) noexcept {
    survive_fork();
    const std::scoped_lock lock{mutex_};
    if (count_ >= capacity()) return false;
    append(one);
    return true;
  }

  void remove(const kept_descriptor& one) noexcept {
    const std::scoped_lock lock{mutex_};
    if (one.older_ != nullptr || one.newer_ != nullptr || oldest_ == &one) unlink(one);
  }

  std::size_t close(std::size_t count) noexcept {
    closed_now closed;
    const std::scoped_lock lock{mutex_};
    close_unused(closed, count);
    return closed.count;
  }

 private:
  /// Descriptors of no set any more. They are closed after the mutex is free again.
  struct closed_now {
    std::array<int, 16> numbers{};
    std::size_t count = 0;
    closed_now() = default;
    closed_now(const closed_now&) = delete;
    closed_now& operator=(const closed_now&) = delete;
    ~closed_now() {
      for (std::size_t i = 0; i < count; ++i) ::close(numbers[i]);
    }
  };

  static std::uint64_t capacity() noexcept { return descriptor_limit() / 2; }

  void append(const kept_descriptor& one) noexcept {
    one.older_ = newest_;
    one.newer_ = nullptr;
    (newest_ != nullptr ? newest_->newer_ : oldest_) = &one;
    newest_ = &one;
    ++count_;
  }

  void unlink(const kept_descriptor& one) noexcept {
    (one.older_ != nullptr ? one.older_->newer_ : oldest_) = one.newer_;
    (one.newer_ != nullptr ? one.newer_->older_ : newest_) = one.older_;
    one.older_ = one.newer_ = nullptr;
    --count_;
  }

  /// Closes the first descriptor that is not in use. Spares those used since the last look, but not
  /// too many, because the mutex is held.
  void close_unused(closed_now& closed, std::size_t count) noexcept {
    constexpr int max_spared = 64;
    count = std::min(count, closed.numbers.size());
    int spared = 0;
    for (std::uint64_t looks = count_ + max_spared; looks != 0 && closed.count < count; --looks) {
      if (oldest_ == nullptr) return;
      const kept_descriptor& one = *oldest_;
      unlink(one);
      std::uint64_t state = one.state_.load(std::memory_order_relaxed);
      const bool is_spared =
          one.was_used_.exchange(false, std::memory_order_relaxed) && ++spared <= max_spared;
      // Acquires the effects of the last use of the descriptor, which is over before the file is
      // closed.
      if (!is_spared && state % one_number == 0 &&
          one.state_.compare_exchange_strong(state, 0, std::memory_order_acq_rel))
        closed.numbers[closed.count++] = number_in(state);
      else
        append(one);
    }
  }

  /// A child of fork may destroy its files, so another thread must not hold the mutex at that time.
  void survive_fork() noexcept;

  std::mutex mutex_;
  const kept_descriptor* oldest_ = nullptr;
  const kept_descriptor* newest_ = nullptr;
  std::uint64_t count_ = 0;
  std::atomic<bool> survives_fork_{false};
};

namespace {

// A static, as the limit on open files is the process's. It needs no construction and no
// destruction, so files may be closed while the process exits.
constinit descriptor_set all_kept;
static_assert(std::is_trivially_destructible_v<descriptor_set>);

}  // namespace

void descriptor_set::survive_fork() noexcept {
  if (!survives_fork_.exchange(true))
    (void)::pthread_atfork([] { all_kept.mutex_.lock(); }, [] { all_kept.mutex_.unlock(); },
                           [] { all_kept.mutex_.unlock(); });
}

descriptor open_with_room(const char* path, int flags) noexcept {
  constexpr int max_tries = 64;  // other threads may take the room that was made, or use all
                                 // descriptors
  for (int tries = 1;; ++tries) {
    descriptor opened{path, flags};
    if (!is_out_of_descriptors(opened.error()) || tries == max_tries) return opened;
    if (opened.error() == EMFILE) raise_descriptor_limit();
    if (close_kept_descriptors(4) == 0) std::this_thread::yield();
  }
}

std::size_t close_kept_descriptors(std::size_t count) noexcept {
  return all_kept.close(count);
}

kept_descriptor::kept_descriptor(descriptor opened, const file_watch& file) noexcept
    : state_{state_of(opened.number())}, file_{file} {
  expect_random_reads(opened.release());
}

kept_descriptor::~kept_descriptor() {
  all_kept.remove(*this);
  if (const int number = number_in(state_.load(std::memory_order_acquire)); number >= 0)
    ::close(number);
}

void kept_descriptor::join(bool only_if_room) noexcept {
  if (file_.path().empty()) return;
  if (!only_if_room) return all_kept.add(*this);
  if (!all_kept.add_if_room(*this)) ::close(number_in(state_.exchange(0)));
}

kept_descriptor::use kept_descriptor::take_if_open() const noexcept {
  if (number_in(state_.load(std::memory_order_relaxed)) < 0) return {};
  const std::uint64_t before = state_.fetch_add(1, std::memory_order_acquire);
  if (const int number = number_in(before); number >= 0) return {*this, number};
  end_use();  // it was closed in between
  return {};
}

kept_descriptor::use kept_descriptor::take(std::string& refusal) const {
  // A store for each use would make all readers of a file write to one address.
  if (!was_used_.load(std::memory_order_relaxed)) was_used_.store(true, std::memory_order_relaxed);
  if (use open = take_if_open()) return open;
  return open_again(refusal);
}

kept_descriptor::use kept_descriptor::open_again(std::string& refusal) const {
  const std::scoped_lock lock{opening_};
  if (use open = take_if_open()) return open;  // another thread was first
  raise_descriptor_limit();
  descriptor again = open_with_room(file_.path().c_str(), O_NONBLOCK);
  struct stat now {};
  const bool is_open = again.number() >= 0 && ::fstat(again.number(), &now) == 0;
  const int error = errno;
  refusal = is_open ? file_.change_to(now) : file_.change_of_path();
  if (!refusal.empty()) {
    refusal += stay_advice;
    return {};
  }
  if (!is_open) {
    refusal = "was closed to make room for other files, and cannot be opened again: " +
              system_words(error) + "; " + remedy_for_opening(error);
    return {};
  }
  expect_random_reads(again.number());
  const int number = again.release();
  state_.fetch_add(state_of(number) + 1, std::memory_order_acq_rel);
  use opened{*this, number};
  all_kept.add(*this);
  return opened;
}

}  // namespace feedline::detail
