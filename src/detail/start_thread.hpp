#pragma once

#include <feedline/error.hpp>

#include <system_error>

#include <string>
#include <thread>
#include <utility>

namespace feedline::detail {

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

}  // namespace feedline::detail
