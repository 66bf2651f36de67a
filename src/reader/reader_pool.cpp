#include "reader/reader_pool.hpp"

#include "detail/thread_name.hpp"

#include <string>

namespace feedline::detail {

reader_pool::reader_pool(int threads, opener& opener, filler& filler)
    : opener_{opener}, filler_{filler} {
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i] {
        name_this_thread("fl-reader-" + std::to_string(i));
        run();
      });
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
  reader_scratch own;
  while (const auto taken = opener_.next()) filler_.fill(*taken, own);
}

}  // namespace feedline::detail
