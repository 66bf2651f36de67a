#include "detail/own_process.hpp"

#include <pthread.h>

#include <atomic>
#include <new>

namespace feedline::detail {
namespace {

// One for the whole process, so it is defined in a single source.
constinit std::atomic<std::uint32_t> forks{0};

}  // namespace

own_process::own_process() : id_{::getpid()} {
  [[maybe_unused]] static const bool is_counting = [] {
    if (::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); }) != 0) throw std::bad_alloc{};
    return true;
  }();
  forks_ = forks.load();
}

bool own_process::is_this() const noexcept {
  return forks_ == forks.load();
}

}  // namespace feedline::detail
