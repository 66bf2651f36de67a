#include "io/local/descriptor_limit.hpp"

#include "detail/log.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace feedline::detail {
namespace {

/// Some systems have a hard limit of 2^30. Programs that close every possible descriptor before
/// they start another program then take minutes.
constexpr rlim_t highest_limit = rlim_t{1} << 20;

// Statics, as the limit is the process's. They need no construction.
constinit std::atomic<bool> was_raised{false};
constinit std::mutex raising;

void tell(rlim_t before, rlim_t now) noexcept try {
  log()->debug(
      "raised this process's limit on open files (ulimit -n) from {} to {}, because more files are "
      "read than could stay open",
      before, now);
} catch (...) {  // NOLINT(bugprone-empty-catch): a log that fails changes nothing
}

}  // namespace

std::uint64_t descriptor_limit() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

void raise_descriptor_limit() noexcept {
  if (was_raised.load(std::memory_order_acquire)) return;
  const std::scoped_lock lock{raising};
  if (was_raised.load(std::memory_order_relaxed)) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = std::min(limit.rlim_max, highest_limit);
    if (limit.rlim_cur > before && ::setrlimit(RLIMIT_NOFILE, &limit) == 0)
      tell(before, limit.rlim_cur);
  }
  was_raised.store(true, std::memory_order_release);
}

}  // namespace feedline::detail
