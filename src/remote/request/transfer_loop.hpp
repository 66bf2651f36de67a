#pragma once

#include "remote/direct/servers.hpp"
#include "remote/request/request_thread.hpp"
#include "remote/request/transfer_queue.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace feedline::detail {

/// Makes all requests of a process, by a few threads, which start when there is work for them and
/// sleep while there is none. The bytes of an answer are received by one thread.
///
/// Threads: `submit`, `hurry` and the setters by any.
class transfer_loop {
 public:
  using urgency = transfer_urgency;

  /// The loop of this process; a child of fork gets its own.
  [[nodiscard]] static transfer_loop& of_this_process();
  /// For loops of which no request was wanted yet. 0: one for each core that this process may use,
  /// at most 8.
  static void set_threads(int count) noexcept;

  transfer_loop(const transfer_loop&) = delete;
  transfer_loop& operator=(const transfer_loop&) = delete;
  ~transfer_loop() = delete;  // a thread that outlasts the process's end may still ask it

  /// Begins a transfer. @throws thread_error if there is no thread for it.
  void submit(const transfer_ptr& wanted, urgency when);
  /// A reader waits now for a transfer that was submitted ahead.
  void hurry(const transfer_ptr& wanted) { queue_.hurry(wanted); }
  /// Ends the threads. What is in flight, and all that comes later, fails.
  void stop() noexcept;

 private:
  transfer_loop();

  void start_for(std::size_t demand);

  const std::size_t max_threads_;
  transfer_queue queue_;
  direct_servers servers_;
  connection_room room_;
  std::vector<std::unique_ptr<request_thread>> threads_;  ///< all are made, some are started
  std::atomic<std::size_t> started_{0};
  std::mutex starting_;
  bool is_ended_ = false;  ///< guarded by `starting_`
};

}  // namespace feedline::detail
