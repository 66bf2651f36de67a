#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace feedline::detail {

/// Counts the forks that lead to this process. One for the whole process, so it is defined in a
/// single source.
extern constinit std::atomic<std::uint32_t> forks;

/// The process in which something was made. A child of fork has the memory of its parent, but
/// none of its threads: a lock that one of them held stays locked forever, and a wait for one never
/// ends.
///
/// Any thread. Asking costs one load: a handler of fork counts the forks that lead to this process.
class own_process {
 public:
  /// This process. @throws std::bad_alloc if the handler cannot be installed.
  own_process();

  /// Whether this is still the same process, and not a child of it made by fork.
  [[nodiscard]] bool is_this() const noexcept { return forks_ == forks.load(); }
  [[nodiscard]] pid_t id() const noexcept { return id_; }

 private:
  pid_t id_;
  std::uint32_t forks_ = 0;
};

/// Never destroys the object that a pointer shares: for a child of fork, where destroying it would
/// hang.
template <class T>
void leak(std::shared_ptr<T>&& shared) noexcept {
  (void)new (std::nothrow) std::shared_ptr<T>{std::move(shared)};
}

}  // namespace feedline::detail
