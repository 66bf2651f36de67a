#include "detail/threads.hpp"

#include "detail/control_groups.hpp"
#include "detail/cores.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <vector>

namespace feedline::detail {
namespace {

constexpr unsigned no_limit = std::numeric_limits<unsigned>::max();

/// Cores in the affinity mask; no limit if it is unknown.
unsigned affinity_cores() {
  const std::size_t allowed = allowed_cores().size();
  return allowed == 0 ? no_limit : static_cast<unsigned>(allowed);
}

/// Quota and period in microseconds, as whole cores; no limit unless both are numbers: "max" in
/// version 2, -1 in version 1.
unsigned cores_of(std::istream& quota, std::istream& period) {
  long long paid = 0;
  long long of = 0;
  if (!(quota >> paid) || !(period >> of) || paid <= 0 || of <= 0) return no_limit;
  return static_cast<unsigned>(std::clamp<long long>(paid / of, 1, no_limit));
}

unsigned cores_in(const std::filesystem::path& group) {
  std::ifstream both{group / "cpu.max"};
  std::ifstream quota{group / "cpu.cfs_quota_us"};
  std::ifstream period{group / "cpu.cfs_period_us"};
  return std::min(cores_of(both, both), cores_of(quota, period));
}

}  // namespace

std::optional<unsigned> quota_cores(const std::filesystem::path& root) {
  unsigned cores = no_limit;
  for (const auto& group : control_groups(root, "cpu")) cores = std::min(cores, cores_in(group));
  return cores == no_limit ? std::nullopt : std::optional{cores};
}

unsigned usable_cores() noexcept {
  const unsigned there = std::thread::hardware_concurrency();
  unsigned cores = there == 0 ? no_limit : there;
  try {
    cores = std::min({cores, affinity_cores(), quota_cores("/").value_or(no_limit)});
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a path: what is known will do
  }
  return cores == no_limit ? 1 : std::max(cores, 1U);
}

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                  std::size_t threads) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed = count;  // the first in order
  const auto work = [&] {
    for (std::size_t i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock{mutex};
        if (i < failed) {
          failed = i;
          failure = std::current_exception();
        }
        next.store(count, std::memory_order_relaxed);
      }
    }
  };

  threads = std::min(threads, count);
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(work);
  } catch (const std::exception&) {  // no more threads are available: the existing ones do all the
                                     // work
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace feedline::detail
