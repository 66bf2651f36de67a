#pragma once

#include "detail/threads.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::detail {

/// The threads that work for one object, to be joined before it is destroyed. If one of them may
/// never end, they can be left running instead: then they keep the object.
///
/// Threads: all functions by one at a time.
class thread_group {
 public:
  thread_group() = default;
  thread_group(const thread_group&) = delete;
  thread_group& operator=(const thread_group&) = delete;
  ~thread_group() = default;

  /// Reserves room for a number of threads.
  void reserve(std::size_t threads) { threads_.reserve(threads); }
  /// @param what Same as for `start_thread`. @throws thread_error
  template <class Body>
  void start(const std::string& what, Body body) {
    count_->add();
    try {
      threads_.push_back(start_thread(what, [count = count_, run = std::move(body)] {
        run();
        count->end();
      }));
    } catch (...) {
      count_->end();
      throw;
    }
  }

  /// Blocks until all have ended; no longer than that, if it is not 0: then false.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time) { return count_->wait_for(time); }
  /// Blocks until all have ended, to their last step.
  void join() noexcept;
  /// Detaches them. The last one to end destroys the given object; it is not destroyed if the
  /// process ends first.
  void leave(std::shared_ptr<void> kept) noexcept;

 private:
  /// State that the threads share.
  class count {
   public:
    void add();
    void end() noexcept;
    [[nodiscard]] bool wait_for(std::chrono::milliseconds time);
    void keep(std::shared_ptr<void> kept) noexcept;

   private:
    std::mutex mutex_;
    std::condition_variable ended_;
    std::size_t running_ = 0;
    std::shared_ptr<void> kept_;
  };

  std::shared_ptr<count> count_ = std::make_shared<count>();
  std::vector<std::thread> threads_;
};

}  // namespace feedline::detail
