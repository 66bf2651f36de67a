#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Things that a thread works with and that are dear to make: as many as were ever in use at once, kept.
///
/// Threads: `take` by any number at once; a lease by one.
template <class T>
class scratch_pool {
 public:
  /// The hold on one thing; it must not outlive its pool.
  class lease {
   public:
    lease(scratch_pool& pool, std::unique_ptr<T> thing) : pool_{pool}, thing_{std::move(thing)} {}
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { pool_.put_back(std::move(thing_)); }

    T& operator*() const noexcept { return *thing_; }
    T* operator->() const noexcept { return thing_.get(); }

   private:
    scratch_pool& pool_;
    std::unique_ptr<T> thing_;
  };

  explicit scratch_pool(std::function<std::unique_ptr<T>()> make) : make_{std::move(make)} {}

  /// One that no other thread has; made if there is none.
  [[nodiscard]] lease take() {
    {
      const std::lock_guard lock{mutex_};
      if (!idle_.empty()) {
        std::unique_ptr<T> thing = std::move(idle_.back());
        idle_.pop_back();
        return lease{*this, std::move(thing)};
      }
      ++made_;
      idle_.reserve(made_);  // so that handing back cannot fail
    }
    return lease{*this, make_()};
  }

 private:
  void put_back(std::unique_ptr<T> thing) noexcept {
    const std::lock_guard lock{mutex_};
    idle_.push_back(std::move(thing));
  }

  std::function<std::unique_ptr<T>()> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
  std::size_t made_ = 0;
};

}  // namespace feedline::detail
