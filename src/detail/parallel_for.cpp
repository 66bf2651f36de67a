#include "detail/parallel_for.hpp"

#include "detail/usable_cores.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace feedline::detail {

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // the first
  const auto work = [&] {
    for (std::size_t i = 0; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock{mutex};
        if (!failure) failure = std::current_exception();
        next.store(count, std::memory_order_relaxed);
      }
    }
  };

  const std::size_t cores = usable_cores();
  std::vector<std::thread> helpers;
  helpers.reserve(std::min(cores, count));
  try {
    while (helpers.size() + 1 < std::min(cores, count)) helpers.emplace_back(work);
  } catch (const std::exception&) {  // no more threads to be had: those there are do it all
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace feedline::detail
