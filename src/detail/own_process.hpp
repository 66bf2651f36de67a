#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace feedline::detail {

/// The process in which something was made. A fork's child has the memory of its parent, but none
/// of its threads: a lock that one of them held stays locked for ever, and a wait for one never
/// ends.
///
/// Any thread. Asking costs one load: a handler of fork counts the forks that lead to this process.
class own_process {
 public:
  /// This process. @throws std::bad_alloc if the handler cannot be installed.
  own_process() : id_{::getpid()} {
    [[maybe_unused]] static const bool is_counting = [] {
      if (::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); }) != 0)
        throw std::bad_alloc{};
      return true;
    }();
    forks_ = forks.load();
  }

  /// Whether this is still the same process, and not a child of it made by fork.
  [[nodiscard]] bool is_this() const noexcept { return forks_ == forks.load(); }
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  static inline std::atomic<std::uint32_t> forks{0};

  pid_t id_;
  std::uint32_t forks_ = 0;
};

/// Never destroys what a pointer shares: for a child of fork, where destroying it would hang.
template <class T>
void leak(std::shared_ptr<T>&& shared) noexcept {
  (void)new (std::nothrow) std::shared_ptr<T>{std::move(shared)};
}

}  // namespace feedline::detail
