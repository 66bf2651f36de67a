#include "statistics/thread_clock.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include <time.h>

namespace feedline::detail {
namespace {

/// The second number of `/proc/thread-self/schedstat` (Linux, Documentation/scheduler/
/// sched-stats): nanoseconds in a run queue. A thread that its control group's quota holds back is
/// in it, too.
std::optional<std::chrono::nanoseconds> time_in_queue(int file) noexcept {
  std::array<char, 96> text{};
  const auto bytes = ::pread(file, text.data(), text.size(), 0);
  if (bytes <= 0) return std::nullopt;
  const char* const end = text.data() + static_cast<std::size_t>(bytes);
  std::uint64_t on_core = 0;
  std::uint64_t queued = 0;
  const auto first = std::from_chars(text.data(), end, on_core);
  if (first.ec != std::errc{} || first.ptr == end) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, queued);
  if (second.ec != std::errc{}) return std::nullopt;
  return std::chrono::nanoseconds{queued};
}

}  // namespace

thread_clock::~thread_clock() {
  if (file_ >= 0) ::close(file_);
}

void thread_clock::open() noexcept {
#if defined(__linux__)
  const long caller = ::syscall(SYS_gettid);
  if (caller == thread_) return;
  if (file_ >= 0) ::close(file_);
  file_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  thread_ = caller;
#endif
}

thread_times thread_clock::now() noexcept {
  open();
  timespec cpu{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {std::chrono::seconds{cpu.tv_sec} + std::chrono::nanoseconds{cpu.tv_nsec},
          time_in_queue(file_)};
}

}  // namespace feedline::detail
