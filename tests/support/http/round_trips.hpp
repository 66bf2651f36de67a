#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace feedline::test {

/// A server's script that answers no request before some time without another one: all requests
/// until then are one round trip.
class round_trips {
 public:
  explicit round_trips(std::chrono::milliseconds quiet)
      : quiet_{quiet}, answering_{[this] { answer_all(); }} {}
  round_trips(const round_trips&) = delete;
  round_trips& operator=(const round_trips&) = delete;
  ~round_trips() {
    {
      const std::lock_guard lock{mutex_};
      is_ending_ = true;
      changed_.notify_all();
    }
    answering_.join();
  }

  /// @return The round trip of the request, from 0 on.
  int hold() {
    std::unique_lock lock{mutex_};
    const int mine = answered_;
    ++waiting_;
    last_ = std::chrono::steady_clock::now();
    changed_.notify_all();
    changed_.wait(lock, [&] { return answered_ != mine || is_ending_; });
    return mine;
  }
  [[nodiscard]] int count() {
    const std::lock_guard lock{mutex_};
    return answered_;
  }

 private:
  void answer_all() {
    std::unique_lock lock{mutex_};
    while (!is_ending_) {
      if (waiting_ == 0) {
        changed_.wait(lock);
      } else if (std::chrono::steady_clock::now() < last_ + quiet_) {
        changed_.wait_until(lock, last_ + quiet_);
      } else {
        waiting_ = 0;
        ++answered_;
        changed_.notify_all();
      }
    }
  }

  const std::chrono::milliseconds quiet_;
  std::mutex mutex_;  ///< for all below
  std::condition_variable changed_;
  int waiting_ = 0;
  int answered_ = 0;
  bool is_ending_ = false;
  std::chrono::steady_clock::time_point last_ = {};
  std::thread answering_;
};

}  // namespace feedline::test
