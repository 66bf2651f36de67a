#include "detail/own_process.hpp"

#include <pthread.h>
#include <unistd.h>

namespace feedline::detail {

own_process::own_process() : id_{::getpid()} {
  static const bool is_counting = [] {
    if (::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); }) != 0) throw std::bad_alloc{};
    return true;
  }();
  static_cast<void>(is_counting);
  forks_ = forks.load();
}

}  // namespace feedline::detail
