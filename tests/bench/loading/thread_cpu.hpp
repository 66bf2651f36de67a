#pragma once

namespace feedline::bench {

/// CPU seconds by what a thread of the process is for.
struct thread_cpu {
  double readers = 0;
  double transfer = 0;
  double consumer = 0;  ///< the main thread
  double others = 0;    ///< CUDA's own

  [[nodiscard]] thread_cpu since(const thread_cpu& before) const;
};

/// CPU time of the living threads so far; threads that have ended are not included.
[[nodiscard]] thread_cpu cpu_by_thread();

}  // namespace feedline::bench
