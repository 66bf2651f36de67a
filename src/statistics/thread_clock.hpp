#pragma once

#include <chrono>
#include <optional>

namespace feedline::detail {

/// The system's times of a thread: its time on a core and, if the system tells, its time in a queue
/// for one.
struct thread_times {
  std::chrono::nanoseconds cpu{};
  std::optional<std::chrono::nanoseconds> queued;
};

/// Asks the system for the calling thread's times. Keeps a file open to do so: where opening one
/// makes the process's table of open files grow, it takes tens of milliseconds.
///
/// Threads: one at a time; the file is opened again for another.
class thread_clock {
 public:
  thread_clock() noexcept = default;
  thread_clock(const thread_clock&) = delete;
  thread_clock& operator=(const thread_clock&) = delete;
  ~thread_clock();

  /// Opens the file, so that `now` need not.
  void open() noexcept;
  [[nodiscard]] thread_times now() noexcept;

 private:
  int file_ = -1;    ///< negative: the system does not tell
  long thread_ = 0;  ///< thread that it belongs to; 0: none yet
};

}  // namespace feedline::detail
