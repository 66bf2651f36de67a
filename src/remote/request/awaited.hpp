#pragma once

#include "remote/request/network_wait.hpp"
#include "remote/request/transfer_loop.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace feedline::detail {

/// Transfers that one thread waits for.
class awaited {
 public:
  awaited() = default;
  awaited(const awaited&) = delete;
  awaited& operator=(const awaited&) = delete;
  ~awaited() { wait(); }  // the transfers write into memory of the waiting thread's

  void submit(const std::shared_ptr<const remote_target>& target, const wanted_bytes& wanted,
              landing out) {
    if (target->identity) target->identity->keep_fresh();
    auto& each = all_.emplace_back(std::make_shared<remote_transfer>());
    each->target = target;
    each->wanted = wanted;
    each->out = std::move(out);
    each->done = [this] {
      const std::lock_guard lock{mutex_};
      if (--waiting_ == 0) all_done_.notify_one();
    };
    {
      const std::lock_guard lock{mutex_};
      ++waiting_;
    }
    try {
      transfer_loop::of_this_process().submit(each, transfer_loop::urgency::now);
    } catch (...) {
      all_.pop_back();
      const std::lock_guard lock{mutex_};
      --waiting_;
      throw;
    }
  }
  void wait() {
    std::unique_lock lock{mutex_};
    if (waiting_ == 0) return;
    const network_wait measured;
    all_done_.wait(lock, [this] { return waiting_ == 0; });
  }
  [[nodiscard]] const std::deque<transfer_ptr>& all() const noexcept { return all_; }

 private:
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::size_t waiting_ = 0;
  std::deque<transfer_ptr> all_;
};

}  // namespace feedline::detail
