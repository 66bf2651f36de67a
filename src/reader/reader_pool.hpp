#pragma once

#include <feedline/device/device.hpp>

#include "reader/request_executor.hpp"
#include "reader/slot_scheduler.hpp"

#include <thread>
#include <vector>

namespace feedline::detail {

/// The reader threads: each takes the next request and fills it, until there are no more.
class reader_pool {
 public:
  /// Starts the threads. Borrows all for its life. @throws thread_error if a thread cannot be
  /// started; those that were have ended then.
  reader_pool(int threads, device& device, slot_scheduler& slot_scheduler,
              request_executor& request_executor);
  reader_pool(const reader_pool&) = delete;
  reader_pool& operator=(const reader_pool&) = delete;
  /// Waits for the threads to end: close the slot scheduler before.
  ~reader_pool();

 private:
  void run();

  device& device_;
  slot_scheduler& slot_scheduler_;
  request_executor& request_executor_;
  std::vector<std::thread> threads_;
};

}  // namespace feedline::detail
