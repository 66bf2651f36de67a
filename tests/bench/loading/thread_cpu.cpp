#include "bench/loading/thread_cpu.hpp"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

namespace feedline::bench {
namespace {

/// CPU seconds of a thread of this process; 0 if it has ended.
double cpu_seconds(int thread) {
  // Same clock as from pthread_getcpuclockid, which needs a pthread_t, but only the thread's number
  // is known.
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3U) | 6U);
  timespec used{};
  if (clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

thread_cpu thread_cpu::since(const thread_cpu& before) const {
  return {readers - before.readers, transfer - before.transfer, consumer - before.consumer,
          others - before.others};
}

thread_cpu cpu_by_thread() {
  thread_cpu used;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    const int thread = std::stoi(task.path().filename());
    std::string name;
    std::getline(std::ifstream{task.path() / "comm"}, name);
    auto& of_kind = thread == getpid()                  ? used.consumer
                    : name.rfind("fl-reader", 0) == 0   ? used.readers
                    : name.rfind("fl-transfer", 0) == 0 ? used.transfer
                                                        : used.others;
    of_kind += cpu_seconds(thread);
  }
  return used;
}

}  // namespace feedline::bench
