/// What feeding costs in CPU time: seconds of all threads for each GB delivered, by feedline and by what people write by
/// hand, and the CPU time of a loader whose consumer does not come.
///
///     feedline_bench_cpu
///
/// Method: CPU time of the process, user's and system's (getrusage), over runs like delivery's: readers, transfer, consumer
/// and CUDA's own threads together. Idle: the consumer takes one batch, the loader is given time to fill its rings, then the
/// process sleeps for the span and its CPU time in it is read. libtorch's loader reports its own in peers_libtorch.cpp.

#include <feedline/cuda/cuda_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/by_hand.hpp"
#include "bench/consume.hpp"
#include "bench/machine.hpp"
#include "bench/program.hpp"
#include "bench/results.hpp"
#include "bench/shapes.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<int> readers{4, 8, automatic_readers};
  double idle_seconds = 2;
};

loader make_loader(const shape& shape, const dataset_ptr& data, int readers) {
  return loader{data,
                shuffle{.seed = 1},
                make_cuda_device(0),
                {.batch_size = shape.batch_size, .readers = readers, .epochs = UINT64_MAX}};
}

void report(const shape& shape, const std::string& feed, int readers, const spread& runs,
            results& found) {
  const delivered& median = runs.median();
  std::printf("%-12s %-14s %7d %8.2f %10.4f %10.2f\n", shape.name.c_str(), feed.c_str(), readers,
              median.bytes_per_second() / 1e9, median.cpu_seconds_per_gb(), median.busy_cores());
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {feed == "feedline" ? "placement" : "peer", feed == "feedline" ? "stream" : feed},
             {"readers", readers},
             {"busy_cores", median.busy_cores()}},
            runs);
}

void run_delivery(const shape& shape, const dataset_ptr& data, const options& options,
                  const gpu_stream& stream, results& found) {
  for (const int asked : options.readers) {
    loader loader = make_loader(shape, data, asked);
    std::uint64_t epoch = 0;
    (void)consume(loader, epoch, stream, 0);  // warm up
    report(shape, "feedline", loader.plan().readers,
           repeat(options.runs, [&] { return consume(loader, epoch, stream, options.seconds); }),
           found);
  }
  for (const std::size_t buffers : {std::size_t{1}, std::size_t{2}}) {
    report(
        shape, name_by_hand(buffers), 0,
        repeat(options.runs, [&] { return feed_by_hand(shape, *data, buffers, options.seconds); }),
        found);
  }
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
  std::printf("%-12s %-14s %7s %8s %10s %10s\n", "shape", "feed", "readers", "GB/s", "CPU s/GB",
              "busy cores");
  const gpu_stream stream;
  const auto shapes = main_shapes(options.shape);
  std::vector<dataset_ptr> data;
  for (const shape& shape : shapes) data.push_back(make_data(shape));
  for (std::size_t i = 0; i < shapes.size(); ++i)
    run_delivery(shapes[i], data[i], options, stream, found);

  std::printf("\nidle: one batch taken, then none for %.1f s\n%-12s %7s %14s %16s\n",
              options.idle_seconds, "shape", "readers", "CPU ms", "of one core");
  for (std::size_t i = 0; i < shapes.size(); ++i)
    run_idle(shapes[i], data[i], options, stream, found);
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app{"CPU time of feeding, and of waiting"};
  options options;
  add_common_options(app, options);
  app.add_option("--readers", options.readers, "numbers of reader threads to try; -1: automatic")
      ->delimiter(',');
  app.add_option("--idle-seconds", options.idle_seconds, "how long the consumer stays away")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return run_program(app, argc, argv, has_gpu, [&] { run(options); });
}
