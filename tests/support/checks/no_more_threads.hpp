#pragma once

#include <pthread.h>

#include <cstddef>
#include <stdexcept>

namespace feedline::test {

/// While it lives, no thread can be started: each would need a stack larger than the address space.
class no_more_threads {
 public:
  no_more_threads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    const int refused = ::pthread_attr_setstacksize(&huge, std::size_t{1} << 48);
    if (refused != 0 || ::pthread_setattr_default_np(&huge) != 0)
      throw std::runtime_error{"cannot set the size of stacks"};
    ::pthread_attr_destroy(&huge);
  }
  no_more_threads(const no_more_threads&) = delete;
  no_more_threads& operator=(const no_more_threads&) = delete;
  ~no_more_threads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_{};
};

}  // namespace feedline::test
