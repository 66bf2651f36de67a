/// A picture of a plain loop and of a loop with feedline, on the same time axis: the same
/// batches of the same rows, and the same step on each.
///
///     feedline_bench_beside --page beside.html
///     feedline_bench_beside --page beside.html --shape imagenet256 --step-us 3000
///
/// The plain loop is what people write by hand: one thread gathers a batch into pinned memory
/// (`--pageable`: into memory that is not), copies it by cudaMemcpy, launches the step, and waits
/// for it. Its lanes are drawn from the host's clock, since each of these calls returns when its
/// work is done. feedline's lanes are its own trace, of the first epoch of a new loader: nothing
/// was read ahead before its first bar. Both loops run once before, untraced.
///
/// The step is a kernel of a given length; by default just long enough for feedline to hide reading
/// and copying.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>
#include <feedline/statistics/trace.hpp>

#include "bench/support/busy_kernel.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/shapes.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"
#include "support/command_line.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  int readers = 4;
  std::uint64_t batches = 12;
  double step_us = 0;  ///< 0: a little longer than the loader alone needs for a batch
  bool pageable = false;
  std::string page;
};

std::uint64_t cycles_of(double us) {
  int kilohertz = 0;
  FEEDLINE_CUDA_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  return static_cast<std::uint64_t>(1e-3 * us * kilohertz);
}

/// The work of both loops.
struct task {
  shape rows;
  dataset_ptr data;  ///< data with as many samples as the loops take
  std::uint64_t batches = 0;
  std::uint64_t cycles = 0;  ///< cycles of a step
};

// ---- The plain loop -----------------------------------------------------------------------------

constexpr std::uint32_t cpu_lane = 0;
constexpr std::uint32_t gpu_lane = 1;

/// Adds what the thread and the GPU did from one moment to the next.
class plain_trace {
 public:
  trace drawn{.lanes = {{.name = "plain loop: thread"},
                        {.name = "plain loop: GPU", .kind = lane_kind::stream}},
              .events = {}};

  /// From the end of the last such part until now.
  void part(std::uint64_t batch, trace_activity thread, trace_activity gpu) {
    const auto now = clock_type::now() - began_;
    drawn.events.push_back({cpu_lane, thread, last_, now, 0, batch});
    drawn.events.push_back({gpu_lane, gpu, last_, now, 0, batch});
    last_ = now;
  }

 private:
  clock_type::time_point began_ = clock_type::now();
  std::chrono::nanoseconds last_{};
};

trace run_plain(const task& work, bool pageable, const gpu_stream& stream) {
  const auto device = make_cuda_device(0);
  const std::uint64_t bytes = sample_bytes(work.rows) * work.rows.batch_size;
  const std::uint64_t image_bytes = bytes - work.rows.batch_size;
  const detail::device_memory on_gpu{device, memory_kind::device, bytes};
  std::vector<std::byte> memory(pageable ? bytes : 0);
  std::optional<detail::device_memory> pinned;
  if (!pageable) pinned.emplace(device, memory_kind::staging, bytes);
  std::byte* const batch = pageable ? memory.data() : pinned->data();
  const std::array<std::span<std::byte>, 2> out{
      std::span{batch, image_bytes}, std::span{batch + image_bytes, work.rows.batch_size}};
  std::vector<sample_index> samples(work.rows.batch_size);

  plain_trace seen;
  for (std::uint64_t i = 0; i < work.batches; ++i) {
    shuffle{.seed = 1}.indices(work.data->size(), 0, position{i * samples.size()}, samples);
    work.data->read(samples, out);
    seen.part(i, trace_activity::reading, trace_activity::starved);
    FEEDLINE_CUDA_CHECK(cudaMemcpy(on_gpu.data(), batch, bytes, cudaMemcpyHostToDevice));
    FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(nullptr));  // one that is pageable may end later
    seen.part(i, trace_activity::stalled, trace_activity::copying);
    launch_busy(stream.get(), work.cycles);
    stream.sync();
    seen.part(i, trace_activity::stalled, trace_activity::computing);
  }
  return seen.drawn;
}

// ---- feedline's loop ----------------------------------------------------------------------------

trace run_feedline(const task& work, int readers, const gpu_stream& stream) {
  loader loader{work.data,
                shuffle{.seed = 1},
                make_cuda_device(0),
                {.batch_size = work.rows.batch_size,
                 .epochs = 1,
                 .readers = readers,
                 .placement = placement::stream,
                 .expert = {.trace_events = 10'000}}};
  for (batch& batch : loader.epoch(0, stream_ref{stream.get()})) {
    (void)batch;
    launch_busy(stream.get(), work.cycles);
  }
  stream.sync();
  return loader.trace();
}

// ---- The picture --------------------------------------------------------------------------------

/// Leaves out waits that are too short to be seen, and makes one bar of what a lane does for one
/// batch: a batch has hundreds of requests. @param unseen Half a pixel.
void simplify(std::vector<trace_event>& events, std::chrono::nanoseconds unseen) {
  std::erase_if(events, [&](const trace_event& each) {
    return !is_busy(each.activity) && each.end - each.begin < unseen;
  });
  std::stable_sort(events.begin(), events.end(), [](const trace_event& a, const trace_event& b) {
    return std::pair{a.lane, a.begin} < std::pair{b.lane, b.begin};
  });
  std::vector<trace_event> joined;
  for (const trace_event& event : events) {
    if (!joined.empty()) {
      trace_event& last = joined.back();
      const bool same = last.lane == event.lane && last.activity == event.activity &&
                        last.epoch == event.epoch && last.batch == event.batch;
      if (same && event.begin - last.end < unseen) {
        last.end = event.end;
        continue;
      }
    }
    joined.push_back(event);
  }
  events = std::move(joined);
}

/// Appends the lanes of one to the other, so that it begins at 0.
void append(trace& to, trace from) {
  if (from.events.empty()) return;
  const auto first = std::min_element(
      from.events.begin(), from.events.end(),
      [](const trace_event& a, const trace_event& b) { return a.begin < b.begin; });
  const auto origin = first->begin;
  const auto lanes = static_cast<std::uint32_t>(to.lanes.size());
  for (trace_event& event : from.events) {
    event.lane += lanes;
    event.begin -= origin;
    event.end -= origin;
  }
  to.events.insert(to.events.end(), from.events.begin(), from.events.end());
  for (trace_lane& lane : from.lanes) to.lanes.push_back(std::move(lane));
}

/// From the first event to the last.
double milliseconds_of(const trace& of) {
  std::chrono::nanoseconds end{};
  auto begin = std::chrono::nanoseconds::max();
  for (const trace_event& event : of.events) {
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end);
  }
  return of.events.empty() ? 0 : std::chrono::duration<double, std::milli>{end - begin}.count();
}

std::string words(const char* format, double number) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

void draw(const task& work, trace plain, trace fed, const options& options) {
  const double plain_ms = milliseconds_of(plain);
  const double fed_ms = milliseconds_of(fed);
  std::printf("plain loop %.2f ms, feedline %.2f ms: %.2f times as fast\n", plain_ms, fed_ms,
              plain_ms / fed_ms);
  for (trace_lane& lane : fed.lanes) lane.name = "feedline: " + lane.name;
  simplify(fed.events, std::chrono::nanoseconds{std::llround(1e6 * plain_ms / 2000)});
  trace both = std::move(plain);
  append(both, std::move(fed));
  const std::string title = std::to_string(work.batches) + " batches, " + work.rows.name +
                            ": a plain loop " + words("%.1f ms", plain_ms) + ", feedline " +
                            words("%.1f ms", fed_ms);
  if (!options.page.empty()) write_trace_page(both, options.page, title);
}

void run(const options& options) {
  std::printf("%s", describe_machine().c_str());
  task work{.rows = shapes_named(options.shape.empty() ? "imagenet256" : options.shape).front(),
            .data = {},
            .batches = options.batches};
  work.rows.samples = work.batches * work.rows.batch_size;
  work.data = make_data(work.rows);
  const gpu_stream stream;

  double step_us = options.step_us;
  {
    loader alone{work.data,
                 shuffle{.seed = 1},
                 make_cuda_device(0),
                 {.batch_size = work.rows.batch_size,
                  .epochs = UINT64_MAX,
                  .readers = options.readers,
                  .placement = placement::stream}};
    std::uint64_t epoch = 0;
    (void)consume(alone, epoch, stream, options.seconds);  // warm up
    const double feeding =
        1e6 / consume(alone, epoch, stream, options.seconds).batches_per_second();
    if (step_us == 0) step_us = 1.25 * feeding;
    std::printf("the loader alone needs %.0f µs a batch; a step has %.0f µs\n", feeding, step_us);
  }
  work.cycles = cycles_of(step_us);
  (void)run_plain(work, options.pageable, stream);
  trace plain = run_plain(work, options.pageable, stream);
  (void)run_feedline(work, options.readers, stream);
  draw(work, std::move(plain), run_feedline(work, options.readers, stream), options);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"A plain loop and feedline's, drawn on one scale of time"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "reader threads");
  line.add_option("--batches", options.batches, "of each loop").positive();
  line.add_option("--step-us", options.step_us,
                  "length of a step; 0: 1.25 times what the loader alone needs for a batch");
  line.add_flag("--pageable", options.pageable, "the plain loop copies from memory not pinned");
  line.add_option("--page", options.page, "file for a page");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
