#pragma once

#include <sys/types.h>

#include <functional>

namespace feedline::bench {

/// Begins a process that runs a body and ends; what the body throws is printed.
/// @throws std::runtime_error if there is no process.
[[nodiscard]] pid_t begin_process(const std::function<void()>& body);
/// Waits for it. @throws std::runtime_error if it failed.
void end_process(pid_t child);
/// Runs a body in a process of its own.
inline void in_process(const std::function<void()>& body) {
  end_process(begin_process(body));
}

}  // namespace feedline::bench
