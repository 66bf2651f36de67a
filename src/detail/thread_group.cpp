#include "detail/thread_group.hpp"

#include "detail/keep_loaded.hpp"
#include "detail/own_process.hpp"
#include "detail/saturated.hpp"

#include <unistd.h>

#include <cstdlib>

namespace feedline::detail {
namespace {

/// Destroys objects kept by threads that were left running, unless the process ends: then things
/// they use may already be destroyed.
///
/// Never destroyed: such threads may end after everything static.
class late_end {
 public:
  static late_end& of_process() {
    static auto* const one = new late_end;
    return *one;
  }
  /// Begins to watch for the end of the process, which it sees before statics made until now are
  /// destroyed.
  void watch() {
    [[maybe_unused]] static const int watched = std::atexit([] { of_process().begin_exit(); });
  }
  void destroy(std::shared_ptr<void>&& kept) noexcept {
    std::unique_lock lock{mutex_};
    if (exiting_) {
      lock.unlock();
      for (;;) ::pause();  // the thread ends with the process
    }
    ++destroying_;
    lock.unlock();
    kept.reset();
    lock.lock();
    --destroying_;
    destroyed_.notify_all();
  }

 private:
  /// Destruction that has begun has a second to finish.
  void begin_exit() {
    if (!process_.is_this()) return;  // a child of fork has none of those threads
    std::unique_lock lock{mutex_};
    exiting_ = true;
    destroyed_.wait_for(lock, std::chrono::seconds{1}, [this] { return destroying_ == 0; });
  }

  own_process process_;
  std::mutex mutex_;
  std::condition_variable destroyed_;
  std::size_t destroying_ = 0;
  bool exiting_ = false;
};

}  // namespace

void thread_group::join() noexcept {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void thread_group::leave(std::shared_ptr<void> kept) noexcept {
  for (std::thread& thread : threads_) thread.detach();
  threads_.clear();
  keep_loaded();  // they may be the only ones left that use it
  late_end::of_process().watch();
  count_->keep(std::move(kept));
}

void thread_group::count::add() {
  const std::scoped_lock lock{mutex_};
  ++running_;
}

void thread_group::count::end() noexcept {
  std::shared_ptr<void> kept;
  {
    const std::scoped_lock lock{mutex_};
    if (--running_ == 0) kept.swap(kept_);
    ended_.notify_all();
  }
  if (kept) late_end::of_process().destroy(std::move(kept));
}

bool thread_group::count::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock{mutex_};
  const auto ended = [this] { return running_ == 0; };
  if (time.count() != 0) return ended_.wait_until(lock, deadline_after(time), ended);
  ended_.wait(lock, ended);
  return true;
}

void thread_group::count::keep(std::shared_ptr<void> kept) noexcept {
  const std::scoped_lock lock{mutex_};
  if (running_ != 0) kept_ = std::move(kept);
}

}  // namespace feedline::detail
