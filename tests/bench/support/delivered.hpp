#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace feedline::bench {

/// Result of one timed run: wall time, and the CPU time of all threads of the process.
struct delivered {
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
  double cpu_seconds = 0;

  [[nodiscard]] double batches_per_second() const { return static_cast<double>(batches) / seconds; }
  [[nodiscard]] double bytes_per_second() const { return static_cast<double>(bytes) / seconds; }
  [[nodiscard]] double cpu_seconds_per_gb() const {
    return cpu_seconds / (static_cast<double>(bytes) / 1e9);
  }
  [[nodiscard]] double busy_cores() const { return cpu_seconds / seconds; }
};

/// CPU seconds, user's and system's, that the process has used so far, by its threads together.
[[nodiscard]] double process_cpu_seconds();

/// Runs from its making.
class meter {
 public:
  meter();
  [[nodiscard]] double seconds() const;
  [[nodiscard]] delivered stop(std::uint64_t batches, std::uint64_t bytes) const;

 private:
  std::chrono::steady_clock::time_point start_;
  double cpu_start_;
};

/// Runs in order of their rate, the slowest first. Never empty.
struct spread {
  std::vector<delivered> runs;

  [[nodiscard]] const delivered& least() const { return runs.front(); }
  [[nodiscard]] const delivered& median() const { return runs[runs.size() / 2]; }
  [[nodiscard]] const delivered& most() const { return runs.back(); }
};

/// @param count At least 1.
[[nodiscard]] spread repeat(int count, const std::function<delivered()>& run);

}  // namespace feedline::bench
