#include "bench/loading/cost_of_waits.hpp"

#include "bench/support/measure.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace feedline::bench {
namespace {

/// Timed events, as feedline has them on the consumer's stream.
class timed_events {
 public:
  explicit timed_events(std::size_t count) : events_(count) {
    for (cudaEvent_t& each : events_) FEEDLINE_CUDA_CHECK(cudaEventCreate(&each));
  }
  timed_events(const timed_events&) = delete;
  timed_events& operator=(const timed_events&) = delete;
  ~timed_events() {
    for (cudaEvent_t each : events_) FEEDLINE_CUDA_LOG(cudaEventDestroy(each));
  }
  [[nodiscard]] cudaEvent_t operator[](std::size_t i) const { return events_[i]; }
  void record(std::size_t i, const gpu_stream& on) const {
    FEEDLINE_CUDA_CHECK(cudaEventRecord(events_[i], on.get()));
  }
  /// µs from this to the other's event of the same index; 0 if that one was first.
  [[nodiscard]] double until(std::size_t i, const timed_events& other) const {
    float milliseconds = 0;
    FEEDLINE_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events_[i], other[i]));
    return std::max(1e3 * static_cast<double>(milliseconds), 0.0);
  }

 private:
  std::vector<cudaEvent_t> events_;
};

/// A loop whose steps wait for kernels on another stream. The host is ahead, so each of these is
/// in progress when the wait for it is issued.
struct waiting_loop {
  const char* what;
  double step_us;
  double other_us;  ///< 0: there is no wait
  bool has_begin;
  bool has_end;  ///< otherwise the time would end with the other kernel
};

/// Median of the gaps, and of what events tell.
std::pair<double, double> measure(const waiting_loop& loop, stamped_steps& on,
                                  const gpu_stream& stream) {
  constexpr std::size_t count = 200;
  const double rate = cycles_per_microsecond();  // asking takes longer than a step
  const auto cycles = [&](double us) { return static_cast<std::uint64_t>(us * rate); };
  const gpu_stream other;
  const timed_events begin{count};
  const timed_events end{count};
  const timed_events ready{count};
  stream.sync();
  on.begin();
  for (std::size_t i = 0; i < count; ++i) {
    if (loop.other_us > 0) {
      launch_busy(other.get(), cycles(loop.other_us));
      ready.record(i, other);
      if (loop.has_begin) begin.record(i, stream);
      FEEDLINE_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), ready[i], 0));
      if (loop.has_end) end.record(i, stream);
    }
    on.issue(cycles(loop.step_us));
  }
  const double gap = median(on.end().gaps);
  other.sync();
  std::vector<double> told{0};
  for (std::size_t i = 0; loop.has_begin && i < count; ++i)
    told.push_back(begin.until(i, loop.has_end ? end : ready));
  return {gap, median(told)};
}

}  // namespace

void print_cost_of_waits(stamped_steps& on, const gpu_stream& stream) {
  constexpr std::array<waiting_loop, 6> loops{
      {{"no wait", 200, 0, false, false},
       {"a wait that is over", 200, 20, false, false},
       {"  between two timed events", 200, 20, true, true},
       {"  behind one timed event", 200, 20, true, false},
       {"a wait, between two timed events", 100, 300, true, true},
       {"  behind one timed event", 100, 300, true, false}}};
  std::printf("%-34s %10s %10s %10s\n", "what stands between two steps, µs", "gap", "told",
              "differ");
  double usual = 0;
  for (const waiting_loop& loop : loops) {
    const auto [gap, told] = measure(loop, on, stream);
    if (loop.other_us <= 0) usual = gap;
    std::printf("%-34s %10.2f %10.2f %10.2f\n", loop.what, gap, told, told - (gap - usual));
  }
  std::printf("\n");
}

}  // namespace feedline::bench
