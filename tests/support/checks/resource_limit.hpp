#pragma once

#include <sys/resource.h>
#include <system_error>

#include <cerrno>

namespace feedline::test {

/// While it lives, the process gets no more of a resource (`RLIMIT_AS`, `RLIMIT_NOFILE`, ...).
class resource_limit {
 public:
  /// @throws std::system_error if it cannot be set.
  resource_limit(int resource, rlim_t most) : resource_{resource} {
    ::getrlimit(resource_, &before_);
    rlimit now = before_;
    now.rlim_cur = most;
    if (::setrlimit(resource_, &now) != 0)
      throw std::system_error{errno, std::generic_category(), "cannot set a resource's limit"};
  }
  resource_limit(const resource_limit&) = delete;
  resource_limit& operator=(const resource_limit&) = delete;
  ~resource_limit() { ::setrlimit(resource_, &before_); }

 private:
  int resource_;
  rlimit before_{};
};

}  // namespace feedline::test
