#include "bench/support/delivered.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace feedline::bench {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

double process_cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

meter::meter() : start_{std::chrono::steady_clock::now()}, cpu_start_{process_cpu_seconds()} {}

double meter::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

delivered meter::stop(std::uint64_t batches, std::uint64_t bytes) const {
  return {batches, bytes, seconds(), process_cpu_seconds() - cpu_start_};
}

spread repeat(int count, const std::function<delivered()>& run) {
  spread all;
  for (int i = 0; i < count; ++i) all.runs.push_back(run());
  std::sort(all.runs.begin(), all.runs.end(), [](const delivered& a, const delivered& b) {
    return a.bytes_per_second() < b.bytes_per_second();
  });
  return all;
}

}  // namespace feedline::bench
