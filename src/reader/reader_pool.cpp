#include "reader/reader_pool.hpp"

#include "detail/start_thread.hpp"
#include "detail/thread_name.hpp"

#include <string>

namespace feedline::detail {

reader_pool::reader_pool(int threads, device& device, slot_scheduler& slot_scheduler,
                         request_executor& request_executor)
    : device_{device}, slot_scheduler_{slot_scheduler}, request_executor_{request_executor} {
  try {
    for (int i = 0; i < threads; ++i) {
      const std::string what =
          "reader thread " + std::to_string(i + 1) + " of " + std::to_string(threads);
      threads_.push_back(start_thread(what, [this, i] {
        name_this_thread("fl-reader-" + std::to_string(i));
        run();
      }));
    }
  } catch (...) {
    slot_scheduler_.close();
    for (auto& thread : threads_) thread.join();
    throw;
  }
}

reader_pool::~reader_pool() {
  for (auto& thread : threads_) thread.join();
}

void reader_pool::run() {
  device_.begin_thread();
  reader_scratch own;
  while (const auto taken = slot_scheduler_.next()) request_executor_.fill(*taken, own);
}

}  // namespace feedline::detail
