#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Objects that are costly to make and serve one thread at a time: taken, used, given back. There are
/// never more than threads that took one at once. Any number of threads.
template <class T>
class pool {
 public:
  /// One object's use. Ends before the pool.
  class use {
   public:
    explicit use(pool& from) : from_{from}, held_{from.take()} {}
    use(const use&) = delete;
    use& operator=(const use&) = delete;
    ~use() { from_.give_back(std::move(held_)); }

    [[nodiscard]] T& operator*() noexcept { return held_; }
    [[nodiscard]] T* operator->() noexcept { return &held_; }

   private:
    pool& from_;
    T held_;
  };

 private:
  T take() {
    const std::scoped_lock lock{mutex_};
    if (free_.empty()) {
      free_.reserve(made_ + 1);  // so that giving back cannot fail
      T made{};
      ++made_;
      return made;
    }
    T taken = std::move(free_.back());
    free_.pop_back();
    return taken;
  }

  void give_back(T&& object) noexcept {
    const std::scoped_lock lock{mutex_};
    free_.push_back(std::move(object));
  }

  std::mutex mutex_;
  std::vector<T> free_;
  std::size_t made_ = 0;
};

}  // namespace feedline::detail
