#pragma once

#include <pthread.h>

#include <string>

namespace feedline::detail {

/// Names the calling thread for debuggers and profilers; the system keeps 15 characters.
inline void name_this_thread(const std::string& name) noexcept {
#if defined(__linux__)
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
#else
  (void)name;
#endif
}

}  // namespace feedline::detail
