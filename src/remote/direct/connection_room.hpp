#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <limits>

namespace feedline::detail {

/// The connections of all threads, of which some are idle, and how many there may be: others have
/// half of the files that this process may open. Any thread.
class connection_room {
 public:
  void opened() noexcept { open_.fetch_add(1, std::memory_order_relaxed); }
  void closed() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] int open() const noexcept { return open_.load(std::memory_order_relaxed); }
  /// Whether one more may be opened.
  [[nodiscard]] bool is_left() const noexcept { return open() < most(); }

  /// Follows the limit of open files, which may change.
  [[nodiscard]] static int most() noexcept {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
      return std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp<rlim_t>(files.rlim_cur / 2, 1, 1'000'000));
  }

 private:
  std::atomic<int> open_{0};
};

}  // namespace feedline::detail
