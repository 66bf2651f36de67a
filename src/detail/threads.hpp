#pragma once

#include <feedline/error.hpp>

#include <pthread.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

#include <system_error>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace feedline::detail {

/// Number of cores that the calling thread, and threads that it starts, may keep busy: as many as
/// its affinity mask allows and its control groups' quota pays for. At least 1.
[[nodiscard]] unsigned usable_cores() noexcept;

/// Whole cores that the CPU quota of this process's control groups (versions 1 and 2) pays for, at
/// least 1. Nothing where there is no quota.
/// @param root Where `proc` and `sys` are: "/".
[[nodiscard]] std::optional<unsigned> quota_cores(const std::filesystem::path& root);

/// Starts a thread. @param what Names it in the error: "reader thread 3 of 8".
/// @throws thread_error
template <class Body>
[[nodiscard]] std::thread start_thread(const std::string& what, Body&& body) {
  try {
    return std::thread{std::forward<Body>(body)};
  } catch (const std::system_error& refusal) {
    throw thread_error{what + " cannot be started (" + refusal.code().message() +
                       "): the system allows no more threads, or has no memory for their stacks; "
                       "ask for fewer readers, or raise the limit (ulimit -u, ulimit -v, or "
                       "pids.max of the control group)"};
  }
}

/// Names the calling thread for debuggers and profilers; the system keeps 15 characters.
inline void name_this_thread(const std::string& name) noexcept {
#if defined(__linux__)
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
#else
  (void)name;
#endif
}

/// Calls body(0) … body(count − 1), each once, in order, on the calling thread and others; returns
/// when all are done. For work of a millisecond and more: it starts threads.
///
/// Once a call throws, no more are begun. When those in progress have ended, throws the
/// exception of the first call, in order, that threw.
/// @param threads At most this many; fewer if the system has no more.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body,
                  std::size_t threads = usable_cores());

/// Threads of a `parallel_for` that opens files. More than cores, because on other machines opening
/// is mostly waiting.
inline constexpr std::size_t files_opened_at_once = 64;

/// Returns once `ready()` is true. For conditions without a notification: the thread sleeps between
/// two checks, for an eighth of the time that it has waited so far, 20 µs to 1 ms.
template <class Ready>
void poll_until(Ready&& ready) {
  using namespace std::chrono_literals;
  const auto begun = std::chrono::steady_clock::now();
  while (!ready()) {
    const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - begun;
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited / 8, 20us, 1ms));
  }
}

/// Whether this program has the calling thread alone, for sure. False where that cannot be known.
[[nodiscard]] inline bool single_threaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
  return __libc_single_threaded != 0;
#else
  return false;
#endif
}

}  // namespace feedline::detail
