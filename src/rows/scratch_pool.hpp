#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace feedline::detail {

/// A pool of objects that a thread works with and that are expensive to make: keeps as many as were
/// ever in use at once.
///
/// Threads: `take` by any number at once; a lease by one.
template <class T>
class scratch_pool {
 public:
  struct put_back {
    scratch_pool* pool;
    void operator()(T* thing) const noexcept {
      const std::lock_guard lock{pool->mutex_};
      pool->idle_.emplace_back(thing);
    }
  };
  /// The hold on one thing; it must not outlive its pool.
  using lease = std::unique_ptr<T, put_back>;

  explicit scratch_pool(std::function<std::unique_ptr<T>()> make) : make_{std::move(make)} {}

  /// One that no other thread has; made if there is none.
  [[nodiscard]] lease take() {
    {
      const std::lock_guard lock{mutex_};
      if (!idle_.empty()) {
        lease taken{idle_.back().release(), {this}};
        idle_.pop_back();
        return taken;
      }
      ++made_;
      idle_.reserve(made_);  // so that handing back cannot fail
    }
    return lease{make_().release(), {this}};
  }

 private:
  std::function<std::unique_ptr<T>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
  std::size_t made_ = 0;
};

}  // namespace feedline::detail
