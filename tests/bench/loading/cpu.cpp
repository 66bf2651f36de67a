/// Cost of feeding in CPU time: seconds of all threads for each GB delivered, by feedline and by
/// what people write by hand, and the CPU time of a loader whose consumer does not come.
///
///     feedline_bench_cpu
///
/// Method: CPU time of the process, user's and system's (getrusage), over runs like delivery's, and
/// how much of it each kind of thread has, by the threads' own clocks. A consumer that does nothing
/// spends its time waiting: a real one has work to do. Idle: the consumer takes one batch, the
/// loader is given time to fill its rings, then the process sleeps for the span and its CPU time in
/// it is read. libtorch's loader reports its own in peers_libtorch.cpp.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/loading/thread_cpu.hpp"
#include "bench/support/bare/by_hand.hpp"
#include "bench/support/consume.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<int> readers{4, 8, 14};
  double idle_seconds = 2;
};

loader make_loader(const shape& shape, const dataset_ptr& data, int readers) {
  return loader{data,
                shuffle{.seed = 1},
                make_cuda_device(0),
                {.batch_size = shape.batch_size, .epochs = UINT64_MAX, .readers = readers}};
}

/// The runs of a cell, and what each kind of thread used in all of them.
struct measured {
  spread runs;
  thread_cpu threads;

  /// CPU seconds a GB of one kind of thread, by its member.
  [[nodiscard]] double per_gb(double thread_cpu::*kind) const {
    double bytes = 0;
    for (const delivered& run : runs.runs) bytes += static_cast<double>(run.bytes);
    return threads.*kind / (bytes / 1e9);
  }
};

measured measure(int runs, const std::function<delivered()>& run) {
  const thread_cpu before = cpu_by_thread();
  spread all = repeat(runs, run);
  return {std::move(all), cpu_by_thread().since(before)};
}

void print(const shape& shape, const std::string& feed, int readers, const delivered& median) {
  std::printf("%-12s %-14s %7d %8.2f %10.2f %10.4f", shape.name.c_str(), feed.c_str(), readers,
              median.bytes_per_second() / 1e9, median.busy_cores(), median.cpu_seconds_per_gb());
}

void run_loader(const shape& shape, const dataset_ptr& data, int asked, const options& options,
                const gpu_stream& stream, results& found) {
  loader loader = make_loader(shape, data, asked);
  std::uint64_t epoch = 0;
  (void)consume(loader, epoch, stream, 0);  // warm up
  const measured cell =
      measure(options.runs, [&] { return consume(loader, epoch, stream, options.seconds); });
  const int readers = loader.plan().readers;
  print(shape, "feedline", readers, cell.runs.median());
  std::printf(" %9.4f %9.4f %9.4f %9.4f\n", cell.per_gb(&thread_cpu::readers),
              cell.per_gb(&thread_cpu::transfer), cell.per_gb(&thread_cpu::consumer),
              cell.per_gb(&thread_cpu::others));
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"placement", "stream"},
             {"readers", readers},
             {"busy_cores", cell.runs.median().busy_cores()},
             {"readers_cpu_seconds_per_gb", cell.per_gb(&thread_cpu::readers)},
             {"transfer_cpu_seconds_per_gb", cell.per_gb(&thread_cpu::transfer)},
             {"consumer_cpu_seconds_per_gb", cell.per_gb(&thread_cpu::consumer)},
             {"others_cpu_seconds_per_gb", cell.per_gb(&thread_cpu::others)}},
            cell.runs);
}

void run_by_hand(const shape& shape, const dataset& data, std::size_t buffers,
                 const options& options, results& found) {
  const spread runs =
      repeat(options.runs, [&] { return feed_by_hand(shape, data, buffers, options.seconds); });
  print(shape, name_by_hand(buffers), 0, runs.median());
  std::printf("\n");
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"peer", name_by_hand(buffers)},
             {"busy_cores", runs.median().busy_cores()}},
            runs);
}

/// Milliseconds of CPU time that the process uses while the consumer sleeps.
void run_idle(const shape& shape, const dataset_ptr& data, const options& options,
              const gpu_stream& stream, results& found) {
  using seconds = std::chrono::duration<double>;
  loader loader = make_loader(shape, data, automatic_readers);
  auto range = loader.epoch(0, stream_ref{stream.get()});
  const std::optional<batch> first = range.next();
  std::this_thread::sleep_for(seconds{0.25});  // the rings fill
  const double before = process_cpu_seconds();
  std::this_thread::sleep_for(seconds{options.idle_seconds});
  const double used = process_cpu_seconds() - before;
  std::printf("%-12s %7d %14.3f %14.4f %%\n", shape.name.c_str(), loader.plan().readers, 1e3 * used,
              100 * used / options.idle_seconds);
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"idle_seconds", options.idle_seconds},
             {"idle_cpu_seconds", used},
             {"readers", loader.plan().readers}});
}

void run(const options& options) {
  results found{"cpu", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    CPU time of the whole process, empty consumer, median of %d runs of %.1f s\n",
      options.runs, options.seconds);
  std::printf("traffic:   memory traffic is not measured: it takes hardware counters\n\n");
  std::printf("%-12s %-14s %7s %8s %10s %10s %9s\n%66s %9s %9s %9s %9s\n", "shape", "feed",
              "readers", "GB/s", "busy cores", "CPU s/GB", "of it:", "", "readers", "transfer",
              "consumer", "others");
  const gpu_stream stream;
  const auto shapes = main_shapes(options.shape);
  std::vector<dataset_ptr> data;
  for (const shape& shape : shapes) data.push_back(make_data(shape));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (const int readers : options.readers)
      run_loader(shapes[i], data[i], readers, options, stream, found);
    for (const std::size_t buffers : {std::size_t{1}, std::size_t{2}})
      run_by_hand(shapes[i], *data[i], buffers, options, found);
  }

  std::printf("\nidle: one batch taken, then none for %.1f s\n%-12s %7s %14s %16s\n",
              options.idle_seconds, "shape", "readers", "CPU ms", "of one core");
  for (std::size_t i = 0; i < shapes.size(); ++i)
    run_idle(shapes[i], data[i], options, stream, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"CPU time of feeding, and of waiting"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "numbers of reader threads to try; -1: automatic");
  line.add_option("--idle-seconds", options.idle_seconds, "how long the consumer stays away")
      .positive();
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
