#include "statistics/cpu_sampler.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>

#include <time.h>

namespace feedline::detail {
namespace {

/// The second number of `/proc/thread-self/schedstat` (Linux, Documentation/scheduler/
/// sched-stats): nanoseconds in a run queue. A thread that its control group's quota holds back is
/// in it, too.
std::optional<std::chrono::nanoseconds> time_in_queue() noexcept {
#if defined(__linux__)
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 96> text{};
  const auto bytes = ::read(file, text.data(), text.size());
  ::close(file);
  if (bytes <= 0) return std::nullopt;
  const char* const end = text.data() + static_cast<std::size_t>(bytes);
  std::uint64_t on_core = 0;
  std::uint64_t queued = 0;
  const auto first = std::from_chars(text.data(), end, on_core);
  if (first.ec != std::errc{} || first.ptr == end) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, queued);
  if (second.ec != std::errc{}) return std::nullopt;
  return std::chrono::nanoseconds{queued};
#else
  return std::nullopt;
#endif
}

}  // namespace

thread_times thread_times::now() noexcept {
  timespec cpu{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {std::chrono::seconds{cpu.tv_sec} + std::chrono::nanoseconds{cpu.tv_nsec},
          time_in_queue()};
}

}  // namespace feedline::detail
