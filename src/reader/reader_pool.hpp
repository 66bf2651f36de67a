#pragma once

#include <feedline/device/device.hpp>

#include "reader/filler.hpp"
#include "reader/opener.hpp"

#include <thread>
#include <vector>

namespace feedline::detail {

/// The reader threads: each takes the next request and fills it, until there are no more.
class reader_pool {
 public:
  /// Starts the threads. Borrows all for its life. @throws thread_error if a thread cannot be
  /// started; those that were have ended then.
  reader_pool(int threads, device& device, opener& opener, filler& filler);
  reader_pool(const reader_pool&) = delete;
  reader_pool& operator=(const reader_pool&) = delete;
  /// Waits for the threads to end: close the opener before.
  ~reader_pool();

 private:
  void run();

  device& device_;
  opener& opener_;
  filler& filler_;
  std::vector<std::thread> threads_;
};

}  // namespace feedline::detail
