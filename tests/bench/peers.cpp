/// The usual handwritten loops instead of a loader, on the same data and machine as `delivery`:
/// batches/s with an empty consumer.
///
///     feedline_bench_peers
///
/// synchronous:   gather a batch into pinned memory, copy it, wait; then the next
/// double buffer: gather one batch into one of two pinned buffers while the other is being copied,
/// one thread
///
/// libtorch's loader is measured by peers_libtorch.cpp, what people use in Python by peers.py
/// beside this file.

#include "bench/support/bare/by_hand.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "support/command_line.hpp"

#include <cstdio>

using namespace feedline;
using namespace feedline::bench;

namespace {

void run(const common_options& options) {
  results found{"peers", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf("method:    shuffled rows in RAM, empty consumer, median of %d runs of %.1f s\n\n",
              options.runs, options.seconds);
  std::printf("%-12s %-14s %12s %8s %9s\n", "shape", "peer", "batches/s", "GB/s", "CPU s/GB");
  for (const shape& shape : shapes_named(options.shape)) {
    const auto data = make_data(shape);
    for (const std::size_t buffers : {std::size_t{1}, std::size_t{2}}) {
      const spread runs = repeat(
          options.runs, [&] { return feed_by_hand(shape, *data, buffers, options.seconds); });
      const delivered& median = runs.median();
      std::printf("%-12s %-14s %12.0f %8.2f %9.4f\n", shape.name.c_str(),
                  name_by_hand(buffers).c_str(), median.batches_per_second(),
                  median.bytes_per_second() / 1e9, median.cpu_seconds_per_gb());
      std::fflush(stdout);
      found.add({{"shape", shape.name}, {"peer", name_by_hand(buffers)}}, runs);
    }
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Loops written by hand, to compare with"};
  common_options options;
  add_common_options(line, options);
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
