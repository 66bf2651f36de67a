#include "device/deferred_free.hpp"

#include "detail/log.hpp"
#include "detail/own_process.hpp"
#include "detail/threads.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

constexpr std::chrono::seconds longest_wait{1};

using all_deferred = std::vector<std::unique_ptr<deferred_free>>;

/// Never destroyed: a loader may be destroyed after all static objects.
struct set_aside {
  own_process process;  ///< in a child of fork the contents belong to the parent
  std::mutex mutex;
  all_deferred all;
};

set_aside& aside() {
  static auto* const things = new set_aside;
  return *things;
}

bool is_idle(deferred_free& what) noexcept {
  try {
    return what.is_idle();
  } catch (const std::exception&) {
    return true;  // the device has failed: waiting would change nothing
  }
}

}  // namespace

void free_when_idle(std::unique_ptr<deferred_free> what) noexcept {
  free_deferred();
  const auto until = std::chrono::steady_clock::now() + longest_wait;
  bool idle = false;
  poll_until([&] {
    idle = is_idle(*what);
    return idle || std::chrono::steady_clock::now() >= until;
  });
  if (idle) return;
  try {
    log()->warn(
        "a loader or result ring was destroyed while the device still used its memory: that memory "
        "is freed when the work is done and the next loader or ring is created or destroyed");
    set_aside& things = aside();
    if (things.process.is_this()) {
      const std::scoped_lock lock{things.mutex};
      things.all.push_back(std::move(what));
      return;
    }
  } catch (const std::exception&) {
    // There is no memory to set it aside in.
  }
  (void)what.release();  // leaked: the device uses it
}

void free_deferred() noexcept {
  all_deferred
      idle;  // destroyed without the lock, because its members may call `free_when_idle` too
  try {
    set_aside& things = aside();
    if (!things.process.is_this()) return;
    const std::scoped_lock lock{things.mutex};
    idle.reserve(things.all.size());
    const auto used = std::partition(things.all.begin(), things.all.end(),
                                     [](const auto& each) { return !is_idle(*each); });
    std::move(used, things.all.end(), std::back_inserter(idle));
    things.all.erase(used, things.all.end());
  } catch (const std::exception&) {
    // Out of memory: a later call finds it.
  }
}

}  // namespace feedline::detail
