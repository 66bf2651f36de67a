#pragma once

#include <cerrno>
#include <chrono>
#include <ctime>

#include <semaphore.h>

namespace feedline::test {

/// A semaphore of the system's. Unlike waits for an atomic value, it works between copies of the
/// C++ library in one process, and while static objects are destroyed: it has nothing to destroy.
class semaphore {
 public:
  semaphore() noexcept { (void)::sem_init(&of_, 0, 0); }
  semaphore(const semaphore&) = delete;
  semaphore& operator=(const semaphore&) = delete;

  void post() noexcept { (void)::sem_post(&of_); }
  void wait() noexcept {
    while (::sem_wait(&of_) != 0 && errno == EINTR) {
    }
  }
  /// Lets this one through, and all who wait, now or later, once there was a `post`.
  void pass() noexcept {
    wait();
    post();
  }
  /// Whether there was a `post` in time.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds time) noexcept {
    timespec until{};
    (void)::clock_gettime(CLOCK_REALTIME, &until);
    const auto end =
        std::chrono::seconds{until.tv_sec} + std::chrono::nanoseconds{until.tv_nsec} + time;
    until.tv_sec = static_cast<std::time_t>(end / std::chrono::seconds{1});
    until.tv_nsec = static_cast<long>((end % std::chrono::seconds{1}).count());
    int waited = 0;
    while ((waited = ::sem_timedwait(&of_, &until)) != 0 && errno == EINTR) {
    }
    return waited == 0;
  }
  /// Whether there is a `post` that no thread has taken.
  [[nodiscard]] bool is_posted() noexcept {
    int value = 0;
    (void)::sem_getvalue(&of_, &value);
    return value > 0;
  }

 private:
  sem_t of_{};
};

}  // namespace feedline::test
