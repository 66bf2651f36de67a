#include "bench/remote/client_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace feedline::bench {

pid_t begin_process(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error{"no process for a client"};
  if (child != 0) return child;
  int code = 0;
  try {
    body();
  } catch (const std::exception& failure) {
    std::printf("failed: %s\n", failure.what());
    code = 1;
  }
  std::fflush(nullptr);
  ::_exit(code);
}

void end_process(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error{"a client's process failed"};
}

}  // namespace feedline::bench
