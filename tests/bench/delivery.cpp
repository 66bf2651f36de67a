/// How fast batches reach the GPU: shuffled rows in RAM, delivered through a loader to a consumer
/// that does nothing, beside the rate of plain pinned copies measured in the same run.
///
///     feedline_bench_delivery                       # all shapes, several numbers of readers
///     feedline_bench_delivery --shape mnist64 --readers 8
///
/// Method: for each cell a loader is built, one epoch is consumed to warm up, then epochs are
/// consumed back to back for the time asked; the clock stops when the consumer's stream has passed
/// the last batch. The median of the runs is printed, with the least and the most. Content is not
/// checked here: the tests do that.

#include <feedline/cuda/cuda_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/consume.hpp"
#include "bench/copies.hpp"
#include "bench/machine.hpp"
#include "bench/program.hpp"
#include "bench/results.hpp"
#include "bench/shapes.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<int> readers{0, 1, 2, 4, 8, 14};
  std::uint64_t batches_per_slot = 0;
  std::size_t staging_slots = 0;
};

void run_cell(const shape& shape, const dataset_ptr& data, int readers, const options& options,
              double limit, const gpu_stream& stream, results& found) {
  loader loader{data,
                shuffle{.seed = 1},
                make_cuda_device(0),
                {.batch_size = shape.batch_size,
                 .readers = readers,
                 .epochs = UINT64_MAX,
                 .batches_per_slot = options.batches_per_slot,
                 .staging_slots = options.staging_slots}};
  std::uint64_t epoch = 0;
  (void)consume(loader, epoch, stream, 0);  // warm up
  const spread runs =
      repeat(options.runs, [&] { return consume(loader, epoch, stream, options.seconds); });
  const delivered& median = runs.median();
  const auto& plan = loader.plan();
  std::printf("%-12s %7d %12.0f %8.2f [%6.2f, %6.2f] %8.1f %% %8.1f %9.1f\n", shape.name.c_str(),
              readers, median.batches_per_second(), median.bytes_per_second() / 1e9,
              runs.least().bytes_per_second() / 1e9, runs.most().bytes_per_second() / 1e9,
              100 * median.bytes_per_second() / limit,
              static_cast<double>(plan.slot_bytes) / (1 << 20),
              static_cast<double>(plan.staging_bytes) / (1 << 20));
  std::fflush(stdout);
  found.add({{"shape", shape.name},
             {"placement", "stream"},
             {"readers", readers},
             {"batch_size", shape.batch_size},
             {"sample_bytes", sample_bytes(shape)},
             {"slot_bytes", plan.slot_bytes},
             {"staging_bytes", plan.staging_bytes}},
            runs);
}

void run(const options& options) {
  results found{"delivery", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    shuffled rows in RAM, empty consumer, median of %d runs of %.1f s [least, "
      "most]\n\n",
      options.runs, options.seconds);
  const gpu_stream stream;
  const double limit = pinned_copy_rate(std::size_t{64} << 20, options.seconds);
  std::printf("pinned copies of 64 MiB: %.2f GB/s; of 8 MiB: %.2f GB/s\n\n", limit / 1e9,
              pinned_copy_rate(std::size_t{8} << 20, options.seconds) / 1e9);
  std::printf("%-12s %7s %12s %8s %16s %10s %8s %9s\n", "shape", "readers", "batches/s", "GB/s", "",
              "of limit", "slot MiB", "pinned MiB");
  for (const shape& shape : shapes_named(options.shape)) {
    const auto data = make_data(shape);
    for (const int readers : options.readers)
      run_cell(shape, data, readers, options, limit, stream, found);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app{"Delivery of batches to the GPU, beside the rate of plain pinned copies"};
  options options;
  add_common_options(app, options);
  app.add_option("--readers", options.readers, "numbers of reader threads to try")->delimiter(',');
  app.add_option("--batches-per-slot", options.batches_per_slot, "0: automatic");
  app.add_option("--staging-slots", options.staging_slots, "0: automatic");
  return run_program(app, argc, argv, has_gpu, [&] { run(options); });
}
