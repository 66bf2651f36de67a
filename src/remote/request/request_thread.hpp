#pragma once

#include "remote/direct/connection_room.hpp"
#include "remote/direct/connections.hpp"
#include "remote/request/answer_times.hpp"
#include "remote/request/attempt.hpp"
#include "remote/request/connection_groups.hpp"
#include "remote/request/transfer_queue.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <curl/curl.h>

namespace feedline::detail {

/// A thread that makes requests, many at once, by libcurl's multi interface on epoll: its costs
/// grow with the bytes and answers, not with the number of connections, which are kept.
///
/// A try that fails is made again after a pause that doubles each time, by a random part of it, and
/// at least as long as the server says. The target's deadline ends that, and a try in flight. If a
/// try takes much longer than others of its size, a second request is made beside it; the first
/// whole answer is taken.
///
/// Threads: `start` and `join` by one, `wake` by any.
class request_thread {
 public:
  /// @param number Its number in the queue. @param wake_other Wakes another one. Queue, servers and
  /// room are borrowed. @throws std::bad_alloc if there is no memory, or no file descriptor.
  request_thread(transfer_queue& queue, direct_servers& servers, connection_room& room,
                 std::size_t number, std::function<void(std::size_t)> wake_other);
  request_thread(const request_thread&) = delete;
  request_thread& operator=(const request_thread&) = delete;
  ~request_thread();

  /// @throws thread_error if the system has no more threads.
  void start();
  void wake() noexcept;
  /// Ends it; what is in flight fails.
  void join() noexcept;

  /// Ends a transfer: counts it, and calls its `done`.
  static void finish(const transfer_ptr& ended, answer_verdict verdict) noexcept;
  static constexpr const char* process_ends = "the process is ending";
  /// Without its words, if there is no memory for them.
  [[nodiscard]] static answer_verdict refusal_of(const char* words) noexcept;

 private:
  using clock = std::chrono::steady_clock;

  static constexpr const char* no_memory = "there is no memory for a request";

  void run() noexcept;
  void step();
  void wait();
  void begin_due();
  void begin(const transfer_ptr& wanted) noexcept;
  void begin_attempt(const transfer_ptr& of, attempt::role as);
  [[nodiscard]] bool begin_direct(const transfer_ptr& of);
  [[nodiscard]] bool make_room() noexcept;
  void end_finished();
  void end_direct(const direct_connections::ended& ended);
  [[nodiscard]] static answer_verdict verdict_of(attempt& ended, CURLcode code) noexcept;
  void end_judged(attempt& ended, answer_verdict verdict);
  void look_for_late();
  void hedge(attempt& lagging, clock::time_point now);
  void end(attempt& ended, answer_verdict verdict, const transfer_queue::ending& how);
  [[nodiscard]] std::unique_ptr<attempt> take_out(attempt& ended) noexcept;
  void end_others(const transfer_ptr& of) noexcept;
  void end_all(const char* words) noexcept;
  void wake_if(const transfer_queue::wanted_thread& other);
  /// @return False: it is given up, and `verdict` says after how many tries.
  [[nodiscard]] bool try_again(const transfer_ptr& failed, answer_verdict& verdict);
  [[nodiscard]] std::chrono::milliseconds pause_after(const remote_transfer& failed);
  [[nodiscard]] int wait_time() const;

  transfer_queue& queue_;
  direct_servers& servers_;
  connection_room& room_;
  const std::size_t number_;
  const std::function<void(std::size_t)> wake_other_;
  const int events_;  ///< epoll
  const int wakes_;   ///< eventfd
  connection_groups connections_;
  direct_connections direct_;
  const attempt::surroundings surroundings_;
  std::thread thread_;
  std::atomic<bool> is_ended_{false};

  // The thread's own.
  clock::time_point looked_ = {};  ///< for late ones
  std::vector<transfer_ptr> pausing_, taken_;
  std::vector<std::unique_ptr<attempt>> running_;
  std::vector<request_handle> idle_;
  answer_times times_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace feedline::detail
