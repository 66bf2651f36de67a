#include "reader/reader_pool.hpp"

#include "detail/start_thread.hpp"
#include "detail/thread_name.hpp"

#include <string>

namespace feedline::detail {

reader_pool::reader_pool(int threads, device& device, opener& opener, filler& filler)
    : device_{device}, opener_{opener}, filler_{filler} {
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
    opener_.close();
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
  while (const auto taken = opener_.next()) filler_.fill(*taken, own);
}

}  // namespace feedline::detail
