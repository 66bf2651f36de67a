#pragma once

#include "remote/attempt.hpp"
#include "remote/in_flight_limit.hpp"
#include "remote/transfer.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <curl/curl.h>

namespace feedline::detail {

/// Makes all requests of a process, by one thread, which starts with the first request and sleeps
/// while there is none. Connections are kept. As many requests are in flight as `in_flight_limit`
/// says; what readers wait for comes before what is fetched ahead.
///
/// A try that fails is made again after a pause that doubles each time, by a random part of it, and
/// at least as long as the server says. The target's deadline ends that, and a try in flight.
///
/// Threads: `submit`, `hurry` and `set_max_in_flight` by any.
class transfer_loop {
 public:
  /// Whether a reader waits for a transfer now.
  enum class urgency : bool { ahead, now };

  /// The loop of this process; a child of fork gets its own.
  [[nodiscard]] static transfer_loop& of_this_process();
  /// For all loops from now on, and the present one.
  static void set_max_in_flight(int requests) noexcept;

  transfer_loop(const transfer_loop&) = delete;
  transfer_loop& operator=(const transfer_loop&) = delete;
  ~transfer_loop() = delete;  // a thread that outlasts the process's end may still ask it

  /// Begins a transfer. @throws thread_error if the loop's thread cannot be started.
  void submit(transfer_ptr wanted, urgency when);
  /// A reader waits now for a transfer that was submitted ahead.
  void hurry(const transfer_ptr& wanted);
  /// Ends the thread. What is in flight, and all that comes later, fails.
  void stop() noexcept;

 private:
  using clock = std::chrono::steady_clock;
  struct curl_multi_end {
    void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
  };

  transfer_loop();

  void run() noexcept;
  void step();
  void take_submitted();
  void begin_due();
  [[nodiscard]] transfer_ptr next_due();
  void begin(transfer_ptr wanted);
  void end_finished();
  void end_late();
  void end(std::size_t place, answer_verdict verdict);
  void end_all(const std::string& words) noexcept;
  void finish(const transfer_ptr& ended, answer_verdict verdict) noexcept;
  /// @return False: it is given up, and `verdict` says after how many tries.
  [[nodiscard]] bool try_again(const transfer_ptr& failed, answer_verdict& verdict);
  [[nodiscard]] std::chrono::milliseconds pause_after(const remote_transfer& failed);
  [[nodiscard]] int wait_time() const;

  std::unique_ptr<CURLM, curl_multi_end> multi_;

  std::mutex mutex_;  ///< for the five below
  std::deque<transfer_ptr> submitted_now_, submitted_ahead_;
  std::vector<transfer_ptr> hurried_;
  std::thread thread_;
  bool is_ended_ = false;

  // The thread's own.
  std::deque<transfer_ptr> now_, ahead_;
  std::vector<transfer_ptr> pausing_;
  std::vector<std::unique_ptr<attempt>> running_;
  std::vector<curl_easy_ptr> idle_;
  in_flight_limit limit_{1};
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace feedline::detail
