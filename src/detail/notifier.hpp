#pragma once

#include "detail/threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace feedline::detail {

/// How long a waiter spins before it sleeps, at most: about two wake-ups from sleep. With one,
/// threads that share work of some ten microseconds can fall asleep over each other's wake-ups, and
/// stay in that step. Hardly at all where cores are few: the spinner would keep the one it waits
/// for from running.
[[nodiscard]] inline std::chrono::nanoseconds spin_time() noexcept {
  static const bool many_cores = usable_cores() >= 4;
  return many_cores ? std::chrono::microseconds{100} : std::chrono::microseconds{2};
}

/// Tells the processor that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Between one question to a device and the next: each takes a lock of the driver's, which other
/// threads want too. About a microsecond.
inline constexpr int pauses_between_polls = 32;

/// Spins until `ready()` or the spin time is over. Returns the last result of `ready()`.
/// @param pauses Between one asking and the next: where asking costs others.
template <class Ready>
bool spin_until(Ready&& ready, int pauses = 1, std::chrono::nanoseconds time = spin_time()) {
  if (ready()) return true;
  const auto until = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < 16; i += pauses) {
      for (int each = 0; each < pauses; ++each) pause();
      if (ready()) return true;
    }
  } while (std::chrono::steady_clock::now() < until);
  return false;
}

/// How long a waiter spins before it sleeps: as long as that has paid lately, and hardly at all
/// while enough others spin.
///
/// It measures the time from one notification to the next. If it is longer than spinning covers,
/// each wait halves the spinning of the next one, down to a few microseconds; a short time restores
/// it at once. So threads that exchange work of about ten microseconds keep spinning, and threads
/// whose work comes each millisecond sleep at once. Waking up is part of a wait: a thread that
/// slept spins again if spinning covers both. Many waiters take turns, and each may wait for many
/// notifications: the length of one wait does not tell how soon the next one comes.
///
/// A few of many waiters spin, and begin with new work at once; the others are woken meanwhile. Any
/// thread.
class adaptive_spin {
 public:
  using duration = std::chrono::nanoseconds;
  /// Waiters that spin at a time.
  static constexpr int max_spinners = 4;

  /// @param most Time that a waiter spins at most.
  explicit adaptive_spin(duration most) noexcept : most_{most} {}

  /// A waiter that spins, from construction to destruction.
  class spinner {
   public:
    explicit spinner(adaptive_spin& of) noexcept
        : of_{of},
          is_one_of_few_{of.spinners_.fetch_add(1, std::memory_order_relaxed) < max_spinners} {}
    spinner(const spinner&) = delete;
    spinner& operator=(const spinner&) = delete;
    ~spinner() { of_.spinners_.fetch_sub(1, std::memory_order_relaxed); }

    /// For so long.
    [[nodiscard]] duration time() const noexcept {
      const int halved = is_one_of_few_ ? of_.halved_.load(std::memory_order_relaxed) : max_halved;
      return of_.most_ / (1 << halved);
    }

   private:
    adaptive_spin& of_;
    bool is_one_of_few_;
  };

  /// Learns how long a wait took, sleep included.
  /// @param notified Number of notifications during the wait; at least one is counted.
  void learn(duration waited, std::uint32_t notified) noexcept {
    const int before = halved_.load(std::memory_order_relaxed);
    const bool is_short = waited <= most_ * std::max<std::uint32_t>(notified, 1);
    const int after = is_short ? 0 : std::min(before + 1, max_halved);
    if (after != before) halved_.store(after, std::memory_order_relaxed);
  }

 private:
  static constexpr int max_halved = 5;

  duration most_;
  std::atomic<int> halved_{0};  ///< number of halvings; updates by several waiters at once may be
                                ///< lost
  std::atomic<int> spinners_{0};
};

/// Threads sleep on it until another thread has changed something: the only waiting policy of the
/// pipeline.
///
/// The notifying thread first changes the state and then notifies; the waiter names a condition
/// over that state. No notification is missed, whichever comes first. Any thread may do either.
class notifier {
 public:
  /// Wakes this many waiters, or as many as sleep. A thread about to sleep sees the changed state.
  void notify(std::size_t waiters) noexcept {
    notifications_.fetch_add(1);
    for (; waiters != 0; --waiters) notifications_.notify_one();
    wake_timed();
  }

  /// Wakes all waiters.
  void notify_all() noexcept {
    notifications_.fetch_add(1);
    notifications_.notify_all();
    wake_timed();
  }

  /// Returns once `ready()` is true: spins briefly, where that has paid, then sleeps. Blocks, using
  /// no CPU while asleep.
  /// @param ready Is asked again after every notification.
  template <class Ready>
  void wait_until(Ready&& ready) {
    if (!ready()) spin_then(ready, [&] { return sleep_until(ready); });
  }

  /// The same, but until a deadline at most; returns the last result of `ready()`. For few waiters
  /// at a time, because every notification wakes all of them.
  template <class Ready>
  bool wait_until(Ready&& ready, std::chrono::steady_clock::time_point deadline) {
    if (ready()) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    return spin_then(ready, [&] {
      std::unique_lock lock{timed_mutex_};
      timed_.fetch_add(1);
      (void)notifications_.load();  // shows changes by threads that saw no waiter here
      const bool answer = timed_changed_.wait_until(lock, deadline, ready);
      timed_.fetch_sub(1);
      return answer;
    });
  }

 private:
  template <class Ready, class Sleep>
  bool spin_then(Ready& ready, Sleep&& sleep) {
    const auto began = std::chrono::steady_clock::now();
    const std::uint32_t seen = notifications_.load(std::memory_order_relaxed);
    // The spinner ends before the waiter sleeps.
    const bool spun = spin_until(ready, 1, adaptive_spin::spinner{spin_}.time());
    const bool answer = spun || sleep();
    spin_.learn(std::chrono::steady_clock::now() - began,
                notifications_.load(std::memory_order_relaxed) - seen);
    return answer;
  }

  template <class Ready>
  bool sleep_until(Ready& ready) {
    for (;;) {
      const auto seen = notifications_.load();
      if (ready()) return true;
      notifications_.wait(seen);
    }
  }

  void wake_timed() noexcept {
    if (timed_.load() == 0) return;
    // Once the lock was taken, waiters that saw no change are asleep.
    { const std::scoped_lock lock{timed_mutex_}; }
    timed_changed_.notify_all();
  }

  std::atomic<std::uint32_t> notifications_{0};
  adaptive_spin spin_{spin_time()};
  std::atomic<std::uint32_t> timed_{0};  ///< number of waiters with a deadline, which an atomic
                                         ///< cannot have
  std::mutex timed_mutex_;
  std::condition_variable timed_changed_;
};

}  // namespace feedline::detail
