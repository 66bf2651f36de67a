#include "detail/own_process.hpp"

#include <pthread.h>

#include <atomic>
#include <new>

namespace feedline::detail {

constinit std::atomic<std::uint32_t> forks{0};

own_process::own_process() : id_{::getpid()} {
  [[maybe_unused]] static const bool is_counting = [] {
    if (::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); }) != 0) throw std::bad_alloc{};
    return true;
  }();
  forks_ = forks.load();
}

}  // namespace feedline::detail
