/// What readers reach of what threads reach that only gather: a loader, and as many bare threads
/// that copy random rows of the same dataset into a pinned ring of the same size, in turns.
///
///     feedline_bench_readers                        # all shapes, four readers
///     feedline_bench_readers --shape mnist64 --readers 1,2,4
///
/// Method: a loader with placement stream consumes one epoch to warm up; then a run of the threads
/// and one of the loader take turns, so that both meet the same machine. The threads take requests
/// in turns, too, but know their order beforehand and gather no labels, and nothing leaves their
/// ring. The medians of both are printed, and that of the ratios of neighbours, with the least and
/// the most.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/consume.hpp"
#include "bench/support/cpu_gather.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "device/owned.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<int> readers{4};
};

void run_cell(const shape& shape, const dataset_ptr& data, int readers, const options& options,
              const gpu_stream& stream, results& found) {
  const device_ptr device = make_cuda_device(0);
  const detail::device_memory ring{device, memory_kind::staging, ring_bytes};
  const cpu_gather gather{shape, data};
  loader loader{data,
                shuffle{.seed = 1},
                device,
                {.batch_size = shape.batch_size,
                 .readers = readers,
                 .epochs = UINT64_MAX,
                 .placement = placement::stream}};
  std::uint64_t epoch = 0;
  (void)consume(loader, epoch, stream, 0);
  std::vector<double> bare;
  std::vector<double> fed;
  std::vector<double> shares;
  for (int run = 0; run < options.runs; ++run) {
    bare.push_back(gather.rate(ring.data(), static_cast<std::size_t>(readers), options.seconds));
    fed.push_back(consume(loader, epoch, stream, options.seconds).bytes_per_second());
    shares.push_back(fed.back() / bare.back());
  }
  const auto [least, most] = std::ranges::minmax(shares);
  std::printf("%-12s %7d %12.2f %10.2f %8.1f %% [%5.1f, %5.1f]\n", shape.name.c_str(), readers,
              median(bare) / 1e9, median(fed) / 1e9, 100 * median(shares), 100 * least, 100 * most);
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"readers", readers},
             {"bare_bytes_per_second", median(bare)},
             {"bytes_per_second", median(fed)},
             {"of_bare", median(shares)}});
}

void run(const options& options) {
  results found{"readers", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled rows in RAM; bare threads and a loader in turns, medians of %d runs of "
      "%.2f s each\n\n",
      options.runs, options.seconds);
  std::printf("%-12s %7s %12s %10s %10s\n", "shape", "readers", "bare GB/s", "GB/s", "of bare");
  const gpu_stream stream;
  for (const shape& shape : shapes_named(options.shape)) {
    const auto data = make_data(shape);
    for (const int each : options.readers) run_cell(shape, data, each, options, stream, found);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Readers of a loader, beside as many threads that only gather"};
  options options;
  add_common_options(line, options);
  line.add_option("--readers", options.readers, "numbers of readers to try, and of threads");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
